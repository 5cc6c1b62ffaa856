"""One line for what a tool does: its name, short arguments, how long it took, why it failed."""

from collections.abc import Iterator

from agentslot._json import JsonError, JsonValue, dumps, loads
from agentslot.model import CacheLoss, CacheLossReason
from agentslot.session import ToolCall, ToolResult, ToolStatus, safe_line

_LOSS_REASONS = {
    CacheLossReason.CHANGED: "something changed",
    CacheLossReason.EXPIRED: "too much time has passed",
    CacheLossReason.EVICTED: "the provider forgot it",
}
_MAX_ARGUMENT_BYTES = 60
_MAX_LINE_BYTES = 160


def call_line(call: ToolCall) -> str:
    """Such as `bash pytest -q` or `file_edit path=shop/invoice.py edits=[…]`."""
    return safe_line(f"{call.name} {_arguments(call.arguments)}", _MAX_LINE_BYTES)


def result_line(call: ToolCall, result: ToolResult, seconds: float | None) -> str:
    """Such as `✓ bash 1.2 s` or `✗ bash 1.2 s: exit_status: the command ended with 1`."""
    mark = "✓" if result.status is ToolStatus.SUCCEEDED else "✗"
    line = f"{mark} {call.name}" if seconds is None else f"{mark} {call.name} {duration(seconds)}"
    if result.error is not None:
        line += f": {result.error.code}: {result.error.message}"
    elif result.status is ToolStatus.OUTCOME_UNKNOWN:
        line += ": nobody knows whether it took effect; it is not run again"
    return safe_line(line, _MAX_LINE_BYTES * 2)


def cache_line(loss: CacheLoss) -> str:
    """Such as `prompt cache lost: tools changed; 12,345 tokens read again for $0.034`."""
    changed = " and ".join(section.name.replace("_", " ") for section in loss.changed)
    why = f"{changed} changed" if changed else _LOSS_REASONS[loss.reason]
    cost = "" if loss.cost_usd is None else f" for ${loss.cost_usd:.4f}"
    return f"prompt cache lost: {why}; {loss.tokens:,} tokens read again{cost}"


def call_details(call: ToolCall) -> str:
    """The call with all its arguments, over several lines: what a person must see to approve it."""
    try:
        arguments = loads(call.arguments)
    except JsonError:
        arguments = call.arguments
    return "\n".join([call.name, *_outline(arguments, "  ")])


def duration(seconds: float) -> str:
    """A duration as people read it: `0.3 s`, `2 min 5 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def _arguments(text: str) -> str:
    try:
        arguments = loads(text)
    except JsonError:
        return safe_line(text, _MAX_ARGUMENT_BYTES)
    if not isinstance(arguments, dict):
        return safe_line(text, _MAX_ARGUMENT_BYTES)
    if len(arguments) == 1:
        return _value(*arguments.values())
    return " ".join(f"{name}={_value(value)}" for name, value in arguments.items())


def _value(value: JsonValue) -> str:
    if isinstance(value, str):
        return safe_line(value, _MAX_ARGUMENT_BYTES)
    if isinstance(value, list):
        return "[…]" if value else "[]"
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    return safe_line(dumps(value), _MAX_ARGUMENT_BYTES)


def _outline(value: JsonValue, indent: str) -> Iterator[str]:
    """A JSON value as people read it: a member or item a line, texts with their own lines."""
    deeper = f"{indent}  "
    if isinstance(value, dict):
        for name, member in value.items():
            lines = list(_outline(member, deeper))
            if len(lines) == 1 and not isinstance(member, dict | list):
                yield f"{indent}{name}: {lines[0].removeprefix(deeper)}"
            else:
                yield f"{indent}{name}:"
                yield from lines
    elif isinstance(value, list):
        for item in value:
            first, *rest = list(_outline(item, deeper)) or [deeper]
            yield f"{indent}- {first.removeprefix(deeper)}"
            yield from rest
    else:
        text = value if isinstance(value, str) else dumps(value)
        yield from (f"{indent}{line}" for line in text.split("\n"))
