"""Rebuilding a request from its record: the very bytes that were sent can be made again."""

from collections.abc import Iterable, Mapping
from typing import cast

from agentslot._json import loads
from agentslot.model import ExecutionCapabilities, Input, ModelRequest, Transcript
from agentslot.model.structured import shaped
from agentslot.session import (
    ContextContribution,
    ContextView,
    Message,
    SessionState,
    StepId,
    ToolCall,
    ToolDefinition,
    ToolResult,
)


def rebuilt_request(
    state: SessionState, view: ContextView, capabilities: ExecutionCapabilities | None = None
) -> ModelRequest:
    """The request that a context view of the Session records, as its executor was given it.

    A wanted form of the answer stands in `output`: the way in which the model is brought to it is
    chosen behind the executor, which makes the same bytes of the same request again.

    Args:
        state: the Session.
        view: what was recorded of the request.
        capabilities: what the executor says of the model; needed where an executor of your own
            lists no `structured_output`, since that one was told the form in words.

    Raises:
        KeyError: the Session does not hold a text that the view names.
    """
    prompt = None if view.prompt is None else state.texts[view.prompt]
    inputs = list[Input]()
    for each in view.inputs:
        if isinstance(each, Message):
            inputs.append(each)
        else:
            facts = state.history[each.first - 1 : each.last]
            inputs.extend(_shown(fact.payload for fact in facts))
    if view.step_id is not None:
        inputs.extend(_contributed(state, view))
    described = [] if view.tools is None else _described(state.texts[view.tools])
    request = ModelRequest(
        state.id,
        view.run_id,
        view.step_id or StepId(""),
        view.config,
        prompt,
        Transcript(inputs),
        tuple(map(_definition, described)),
        sum("late" in tool for tool in described),
        state.history.wanted_output(view.run_id),
    )
    if capabilities is None or capabilities.structured_output:
        return request
    return shaped(request, capabilities)


def _shown(payloads: Iterable[object]) -> Iterable[Input]:
    return (p for p in payloads if isinstance(p, Message | ToolCall | ToolResult))


def _contributed(state: SessionState, view: ContextView) -> Iterable[Input]:
    for fact in state.history:
        payload = fact.payload
        if isinstance(payload, ContextContribution) and payload.step_id == view.step_id:
            yield from payload.messages


def _described(text: str) -> list[Mapping[str, object]]:
    return cast("list[Mapping[str, object]]", loads(text))


def _definition(tool: Mapping[str, object]) -> ToolDefinition:
    return ToolDefinition(
        str(tool["name"]),
        str(tool["description"]),
        cast("Mapping[str, object]", tool["input_schema"]),
        strict=tool.get("strict") is True,
    )
