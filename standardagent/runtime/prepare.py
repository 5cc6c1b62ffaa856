"""Preparing a request: what the model will be shown, counted and recorded by reference."""

import hashlib
from dataclasses import dataclass

from agentslot._json import dumps
from agentslot.model import ModelRequest
from agentslot.session import (
    ClassifiedError,
    ContextRange,
    ContextView,
    ErrorKind,
    SetContext,
    ToolDefinition,
)
from agentslot.standardagent.config import AgentConfig, ContextRetention
from agentslot.standardagent.runtime.components import Components
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
    """A request that may be sent, and its view as History will keep it."""

    request: ModelRequest
    last_sequence: int
    token_count: int


async def prepare_request(run: Run, parts: FixedParts) -> PreparedRequest:
    """Build the request of the current step and make sure that it fits the model.

    Raises:
        ClassifiedError: `invalid_input/context_limit_exceeded`, or what the executor says of the
            model, or the counter of the request.
    """
    owner = run.owner
    history = owner.state.history
    request = ModelRequest(
        owner.id,
        run.id,
        run.step_id,
        run.config,
        parts.prompt,
        owner.projection.of(history, run.id, run.step_id),
        parts.tools,
    )
    components = owner.components
    capabilities = components.executor.inspect(run.config)
    if parts.tools and not capabilities.tool_calling:
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "model_not_supported",
            f"model {run.config.model!r} cannot call tools, and this agent has"
            f" {len(parts.tools)}: choose another model or leave tool_keys empty",
        )
    count = await components.counter.count_tokens(request)
    limit = _limit(components.config, capabilities.context_window_tokens)
    if count < 0 or count > limit:
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "context_limit_exceeded",
            f"the request has {count} tokens, the limit is {limit}: start a new Session, or"
            " install a context compactor",
        )
    return PreparedRequest(request, history.last_sequence, count)


def _has_contributions(request: ModelRequest) -> bool:
    return len(request.inputs) > request.inputs.lasting


def _limit(config: AgentConfig, window: int) -> int:
    return min(window, config.hard_token_limit) if config.hard_token_limit else window


def context_change(run: Run, prepared: PreparedRequest, parts: FixedParts) -> SetContext:
    """The change that records the request; decided on the Session's current revision."""
    state = run.owner.state
    previous = state.context
    view = ContextView(
        version=1 if previous is None else previous.version + 1,
        source_revision=state.revision,
        run_id=run.id,
        config=run.config,
        inputs=(ContextRange(1, prepared.last_sequence),),
        prompt=parts.prompt_digest,
        tools=parts.tools_digest,
        token_count=prepared.token_count,
        step_id=run.step_id if _has_contributions(prepared.request) else None,
    )
    unknown = tuple((digest, text) for digest, text in parts.texts if digest not in state.texts)
    retain = run.owner.components.config.context_retention is ContextRetention.RETAIN_ALL
    return SetContext(view, unknown, retain)
