"""Preparing a request: what the model will be shown, counted and recorded by reference."""

import hashlib
from dataclasses import dataclass

from agentslot._json import dumps
from agentslot.model import ModelRequest, Transcript
from agentslot.session import (
    ClassifiedError,
    ContextRange,
    ContextView,
    ErrorKind,
    SetContext,
    ToolDefinition,
)
from agentslot.standardagent.config import ContextRetention
from agentslot.standardagent.runtime.compaction import ViewInputs, compacted
from agentslot.standardagent.runtime.components import Components
from agentslot.standardagent.runtime.contribute import ask_sources
from agentslot.standardagent.runtime.run import Run


def digest_of(text: str) -> str:
    """Content address of a text."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class FixedParts:
    """What every request of an application has in common, with its texts by digest."""

    tools: tuple[ToolDefinition, ...]
    prompt: str | None
    prompt_digest: str | None
    tools_digest: str | None
    texts: tuple[tuple[str, str], ...]


def fixed_parts(components: Components) -> FixedParts:
    """The system prompt and the tool definitions, which never change while an application runs."""
    texts: list[tuple[str, str]] = []

    def stored(text: str) -> str:
        digest = digest_of(text)
        texts.append((digest, text))
        return digest

    tools = tuple(exposed.definition for exposed in components.tools.values())
    prompt = components.config.system_prompt or None
    prompt_digest = stored(prompt) if prompt else None
    described = [
        {"name": t.name, "description": t.description, "input_schema": t.input_schema}
        for t in tools
    ]
    tools_digest = stored(dumps(described)) if tools else None
    return FixedParts(tools, prompt, prompt_digest, tools_digest, tuple(texts))


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """A request that may be sent, and what of History its record refers to."""

    request: ModelRequest
    inputs: ViewInputs
    token_count: int


async def prepare_request(run: Run, parts: FixedParts) -> PreparedRequest:
    """Build the request of the current step and make sure that it fits the model.

    Raises:
        ClassifiedError: `invalid_input/context_limit_exceeded`, or what the executor says of the
            model, the counter of the request, or a context source of itself.
    """
    components = run.owner.components
    limit = _limit(run, parts)
    await run.owner.projection.catch_up(run.owner.state.history)
    if components.context_sources:
        await ask_sources(run, limit)
    history = run.owner.state.history
    inputs = run.owner.projection.of(history, run.id, run.step_id)
    view: ViewInputs = (ContextRange(1, history.last_sequence),)
    request = _request(run, parts, inputs)
    count = await components.counter.count_tokens(request)
    if count > limit and components.compactor is not None:
        inputs, view = await compacted(run, components.compactor, limit)
        request = _request(run, parts, inputs)
        count = await components.counter.count_tokens(request)
    if not 0 <= count <= limit:
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "context_limit_exceeded",
            f"the request has {count} tokens, the limit is {limit}: start a new Session, or"
            " install a context compactor",
        )
    return PreparedRequest(request, view, count)


def _request(run: Run, parts: FixedParts, inputs: Transcript) -> ModelRequest:
    return ModelRequest(
        run.owner.id, run.id, run.step_id, run.config, parts.prompt, inputs, parts.tools
    )


def _limit(run: Run, parts: FixedParts) -> int:
    """Tokens that a request may have.

    Raises:
        ClassifiedError: `invalid_input/model_not_supported`: the model cannot call tools.
    """
    components = run.owner.components
    capabilities = components.executor.inspect(run.config)
    if parts.tools and not capabilities.tool_calling:
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "model_not_supported",
            f"model {run.config.model!r} cannot call tools, and this agent has"
            f" {len(parts.tools)}: choose another model or leave tool_keys empty",
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
        tools=parts.tools_digest,
        token_count=prepared.token_count,
        step_id=run.step_id if _has_contributions(run) else None,
    )
    unknown = tuple((digest, text) for digest, text in parts.texts if digest not in state.texts)
    retain = run.owner.components.config.context_retention is ContextRetention.RETAIN_ALL
    return SetContext(view, unknown, retain)
