"""A Session as people read it: what was said, which tools were called, what else happened."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agentslot._json import JsonError, loads
from agentslot.model import FinishReason
from agentslot.session import (
    AttachmentPart,
    Fact,
    Message,
    MessageId,
    ModelAttempt,
    ModelConfigChanged,
    Role,
    RunFact,
    RunStatus,
    SessionState,
    TextPart,
    ToolCall,
    ToolResult,
    ToolStatus,
    safe_line,
)
from agentslot.standardagent.command.sessions.output import first_words


@dataclass(frozen=True, slots=True)
class Said:
    """Somebody said something; a model that was cut off said it to people only."""

    fact: Fact
    message: Message
    cut_off: bool = False

    @property
    def speaker(self) -> str:
        """Who said it, and that it is not all."""
        return f"{self.message.role}, cut off" if self.cut_off else self.message.role


@dataclass(frozen=True, slots=True)
class Called:
    """A tool was called; there is no result while the call waits or runs."""

    fact: Fact
    call: ToolCall
    result: ToolResult | None


@dataclass(frozen=True, slots=True)
class Noted:
    """Something else happened, in words for people."""

    fact: Fact
    text: str


Event = Said | Called | Noted


def story(state: SessionState) -> Iterator[Event]:
    """What happened, in order; each result stands at its call."""
    cut_off = False  # whether the output limit was reached in the answer that comes next
    for fact in state.history:
        match fact.payload:
            case Message() as message if message.parts:
                yield Said(fact, message, cut_off and message.role is Role.ASSISTANT)
            case ModelAttempt(partial_text=text) as attempt:
                cut_off = attempt.finish_reason == FinishReason.LENGTH
                if text:
                    yield Said(fact, _cut_off(fact, attempt), cut_off=True)
            case ToolCall() as call:
                yield Called(fact, call, state.history.result(call.id))
            case RunFact(status=status) as end if status is not RunStatus.STARTED:
                yield Noted(fact, f"run {status}{_why(end)}")
            case ModelConfigChanged() as change:
                yield Noted(fact, f"model {change.previous.model} → {change.current.model}")
            case _:
                pass


def _why(end: RunFact) -> str:
    """Why a Run did not complete, unless its status says so."""
    why = end.termination
    return "" if why is None or why.code == end.status else f": {why.message}"


def _cut_off(fact: Fact, attempt: ModelAttempt) -> Message:
    """What a model had said when its answer ended early, as a message."""
    parts = (TextPart(attempt.partial_text),)
    message_id = MessageId(attempt.attempt_id)
    return Message(message_id, Role.ASSISTANT, parts, fact.at, attempt.run_id, attempt.step_id)


def ending(state: SessionState) -> Iterator[str]:
    """What a Session is in the middle of."""
    if state.active_run is not None:
        yield f"run {state.active_run.id} was not ended; resuming the session settles it"
    for item in state.queue:
        yield f"waiting ({item.delivery}): {text_of(item.message)}"


def text_of(message: Message) -> str:
    """Text and references; thinking is left out."""
    shown = [
        part.text if isinstance(part, TextPart) else f"[{part.media_type} {part.name or '?'}]"
        for part in message.parts
        if isinstance(part, TextPart | AttachmentPart)
    ]
    return "\n".join(shown)


def title_of(state: SessionState) -> str:
    """The beginning of the first message, or else the id."""
    messages = (fact.payload for fact in state.history if isinstance(fact.payload, Message))
    return first_words(next(messages, None), 80) or state.id


def code_and_prose(text: str) -> Iterator[tuple[bool, str]]:
    """The blocks of a text in order; True stands before those that were fenced as code."""
    fence = ""
    lines: list[str] = []
    for line in text.split("\n"):
        found = _FENCE.fullmatch(line)
        closes = found is not None and found[1].startswith(fence) and not found[2].strip()
        if found is None or (fence and not closes):
            lines.append(line)
            continue
        if lines:
            yield bool(fence), "\n".join(lines)
        fence, lines = "" if fence else found[1], []
    if lines:
        yield bool(fence), "\n".join(lines)


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)")


def outcome_line(called: Called) -> str:
    """Such as `✓ bash` or `✗ bash: exit_status: the command ended with 1`; always one line."""
    return safe_line(_outcome(called))


def _outcome(called: Called) -> str:
    name, result = called.call.name, called.result
    if result is None:
        return f"… {name}: no result yet"
    if result.status is ToolStatus.OUTCOME_UNKNOWN:
        return f"✗ {name}: nobody knows whether it took effect; it is not run again"
    if result.error is not None:
        return f"✗ {name}: {result.error.code}: {result.error.message}"
    return f"✓ {name}"


def output_of(called: Called) -> str:
    """What a tool gave, as text, and the artifacts that it left.

    In front of it stands what went wrong, if `outcome_line` does not say it word by word.
    """
    result = called.result
    if result is None:
        return ""
    shown: list[str] = []
    if result.error is not None and result.error.message not in outcome_line(called):
        shown.append(result.error.message)
    if result.output is not None:
        shown.append(_plain(result.output))
    shown += (f"[{each.media_type} {each.name or each.id}]" for each in result.artifacts)
    return "\n".join(shown)


def _plain(output: str) -> str:
    """A JSON string as the text that it is, anything else as it was stored."""
    try:
        value = loads(output)
    except JsonError:
        return output
    return value if isinstance(value, str) else output
