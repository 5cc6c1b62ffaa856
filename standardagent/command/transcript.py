"""A stored Session as a person reads it."""

from collections.abc import Iterator

from agentslot._json import JsonError, loads
from agentslot.interaction.cli import call_line, printable
from agentslot.session import (
    AttachmentPart,
    Fact,
    Message,
    ModelConfigChanged,
    RunFact,
    RunStatus,
    SessionState,
    TextPart,
    ToolCall,
    ToolResult,
    ToolStatus,
    safe_line,
)

_INDENT = "    "
_MAX_RESULT_LINES = 20


def transcript(state: SessionState) -> Iterator[str]:
    """The lines of a transcript: what was said, which tools were called, what came of it."""
    yield (
        f"session {state.id}: agent {state.agent}, workspace {state.workspace},"
        f" revision {state.revision}, {state.updated_at:%Y-%m-%d %H:%M:%S} UTC"
    )
    for fact in state.history:
        yield from map(printable, _fact_lines(fact, state))
    if state.active_run is not None:
        yield f"run {state.active_run.id} was not ended; resuming the session settles it"
    for item in state.queue:
        yield printable(f"waiting ({item.delivery}): {_text(item.message)}")


def first_words(state: SessionState, max_bytes: int = 60) -> str:
    """The beginning of the first message."""
    for fact in state.history:
        if isinstance(fact.payload, Message):
            return safe_line(_text(fact.payload), max_bytes)
    return ""


def _fact_lines(fact: Fact, state: SessionState) -> Iterator[str]:
    match fact.payload:
        case Message() as message if message.parts:
            yield ""
            yield f"{message.role}: {_text(message)}"
        case ToolCall() as call:
            yield f"→ {call_line(call)}"
        case ToolResult() as result:
            yield from _result_lines(result, state.history.call(result.call_id))
        case RunFact(status=status) as end if status is not RunStatus.STARTED:
            why = f": {end.termination.message}" if end.termination else ""
            yield f"-- run {status}{why}"
        case ModelConfigChanged() as change:
            yield f"-- model {change.previous.model} → {change.current.model}"
        case _:
            pass


def _result_lines(result: ToolResult, call: ToolCall | None) -> Iterator[str]:
    mark = "✓" if result.status is ToolStatus.SUCCEEDED else "✗"
    name = result.call_id if call is None else call.name
    match result.error, result.status:
        case None, ToolStatus.OUTCOME_UNKNOWN:
            yield f"{mark} {name}: nobody knows whether it took effect; it is not run again"
        case None, _:
            yield f"{mark} {name}"
        case error, _:
            yield f"{mark} {name}: {error.code}: {error.message}"
    lines = _output(result).splitlines()
    yield from (f"{_INDENT}{line}" for line in lines[:_MAX_RESULT_LINES])
    if len(lines) > _MAX_RESULT_LINES:
        yield f"{_INDENT}… {len(lines) - _MAX_RESULT_LINES} more lines"
    for artifact in result.artifacts:
        yield f"{_INDENT}[{artifact.media_type} {artifact.name or artifact.id}]"


def _output(result: ToolResult) -> str:
    if result.output is None:
        return ""
    try:
        value = loads(result.output)
    except JsonError:
        return result.output
    return value if isinstance(value, str) else result.output


def _text(message: Message) -> str:
    """Text and references; thinking is left out."""
    shown = [
        part.text if isinstance(part, TextPart) else f"[{part.media_type} {part.name or '?'}]"
        for part in message.parts
        if isinstance(part, TextPart | AttachmentPart)
    ]
    return "\n".join(shown)
