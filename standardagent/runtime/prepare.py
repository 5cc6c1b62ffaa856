"""Preparing a request: what the model will be shown, counted and recorded by reference."""

from collections.abc import Awaitable
from dataclasses import dataclass

from agentslot.model import ModelRequest, TokenCount, Transcript
from agentslot.model.structured import shaped
from agentslot.session import (
    ClassifiedError,
    ContextRange,
    ContextView,
    ErrorKind,
    SetContext,
)
from agentslot.session.record import record
from agentslot.standardagent.config import ContextRetention
from agentslot.standardagent.runtime.compaction import ViewInputs, compacted
from agentslot.standardagent.runtime.components import Components
from agentslot.standardagent.runtime.contribute import ask_sources
from agentslot.standardagent.runtime.counting import counted
from agentslot.standardagent.runtime.run import Run
from agentslot.standardagent.runtime.toolset import ToolSet, digest_of


@dataclass(frozen=True, slots=True)
class FixedParts:
    """What every request of an application has in common.

    Attributes:
        tools: the tools that stand in every request.
        prompt_digest: content address of the prompt; None if there is none.
    """

    tools: ToolSet
    prompt: str | None
    prompt_digest: str | None


def fixed_parts(components: Components) -> FixedParts:
    """The system prompt and the tools, which never change while an application runs."""
    prompt = components.config.system_prompt or None
    exposed = components.tools.values()
    tools = ToolSet.of(each.definition for each in exposed if not each.deferred)
    return FixedParts(tools, prompt, digest_of(prompt) if prompt else None)


@record
class PreparedRequest:
    """A request that may be sent, and what of History its record refers to."""

    request: ModelRequest
    inputs: ViewInputs
    tools: ToolSet
    count: TokenCount


async def prepare_request(run: Run, parts: FixedParts) -> PreparedRequest:
    """Build the request of the current step and make sure that it fits the model.

    Raises:
        ClassifiedError: `invalid_input/context_limit_exceeded`, or what the executor says of the
            model, the counter of the request, or a context source of itself.
    """
    components = run.owner.components
    limit = _limit(run, parts)
    if components.context_sources:
        await ask_sources(run, limit)
    history = run.owner.state.history
    inputs = run.owner.projection.of(history, run.id, run.step_id)
    view: ViewInputs = (ContextRange(1, history.last_sequence),)
    tools = run.owner.found_tools.behind(parts.tools, history)
    request = _request(run, parts, tools, inputs)
    count = await _counted(run, request)
    if count.tokens > limit and components.compactor is not None:
        inputs, view = await compacted(run, components.compactor, limit)
        request = _request(run, parts, tools, inputs)
        count = await _counted(run, request)
    if not 0 <= count.tokens <= limit:
        shorter = (
            "install a context compactor"
            if components.compactor is None
            else "let the context compactor keep less, for this is what it has left"
        )
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "context_limit_exceeded",
            f"the request has {count}, the limit is {limit}: start a new Session, or {shorter}",
        )
    return PreparedRequest(request, view, tools, count)


def _counted(run: Run, request: ModelRequest) -> Awaitable[TokenCount]:
    """An executor that counts is trusted with both, and so are providers that ask no server;
    others have a deadline, and cost a task.
    """
    components = run.owner.components
    if components.counts_apart:
        return counted(run, components.counter, request)
    return components.counter.count_tokens(request)


def _request(run: Run, parts: FixedParts, tools: ToolSet, inputs: Transcript) -> ModelRequest:
    request = ModelRequest(
        run.owner.id,
        run.id,
        run.step_id,
        run.config,
        parts.prompt,
        inputs,
        tools.definitions,
        tools.late,
        run.output,
    )
    return request if run.output is None else _understood(run, request)


def _understood(run: Run, request: ModelRequest) -> ModelRequest:
    """The request as the executor reads it: one that knows no `output` is told in words.

    Raises:
        ClassifiedError: `invalid_input/output_strategy_not_supported`.
    """
    capabilities = run.owner.components.executor.inspect(run.config)
    return request if capabilities.structured_output else shaped(request, capabilities)


def _limit(run: Run, parts: FixedParts) -> int:
    """Tokens that a request may have.

    Raises:
        ClassifiedError: `invalid_input/model_not_supported`: the model cannot call tools.
    """
    components = run.owner.components
    capabilities = components.executor.inspect(run.config)
    if parts.tools.definitions and not capabilities.tool_calling:
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "model_not_supported",
            f"model {run.config.model!r} cannot call tools, and this agent has"
            f" {len(components.tools)}: choose another model or leave tool_keys empty",
        )
    window, hard = capabilities.context_window_tokens, components.config.hard_token_limit
    return min(window, hard) if hard else window


def _has_contributions(run: Run) -> bool:
    state = run.owner.state
    shown = run.owner.projection.of(state.history, run.id, run.step_id)
    return len(shown) > shown.lasting


def context_change(run: Run, prepared: PreparedRequest, parts: FixedParts) -> SetContext:
    """The change that records the request; decided on the Session's current revision."""
    state = run.owner.state
    previous = state.context
    view = ContextView(
        version=1 if previous is None else previous.version + 1,
        source_revision=state.revision,
        run_id=run.id,
        config=run.config,
        inputs=prepared.inputs,
        prompt=parts.prompt_digest,
        tools=prepared.tools.digest,
        token_count=prepared.count.tokens,
        step_id=run.step_id if _has_contributions(run) else None,
        token_count_exact=prepared.count.exact,
    )
    texts = (parts.prompt_digest, parts.prompt), (prepared.tools.digest, prepared.tools.text)
    unknown = tuple((d, text) for d, text in texts if d and text and d not in state.texts)
    retain = run.owner.components.config.context_retention is ContextRetention.RETAIN_ALL
    return SetContext(view, unknown, retain)
