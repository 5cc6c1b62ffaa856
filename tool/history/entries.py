"""What of a History is told: who said what, what was called and what came of it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from agentslot._json import JsonError, loads
from agentslot.session import (
    AttachmentPart,
    Fact,
    History,
    Message,
    Role,
    RunFact,
    RunStatus,
    TextPart,
    ToolCall,
    ToolResult,
    ToolStatus,
)

_OWN_NAME = "session_history"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was said or done.

    Attributes:
        head: who or what, on one line.
        text: all of it; it may be long.
        is_own: whether it only repeats what stands elsewhere: a look into the history itself.
    """

    sequence: int
    head: str
    text: str
    is_own: bool = False


Step = tuple[int, Sequence[Entry]]
"""The sequence of the first fact of a step, and what is told of the step."""


def steps_of(facts: Iterable[Fact], history: History) -> Iterator[Step]:
    """The steps of which anything is told."""
    for _, of_step in groupby(facts, key=lambda fact: fact.step_id or fact.run_id):
        grouped = list(of_step)
        if entries := [entry for fact in grouped if (entry := entry_of(fact, history))]:
            yield grouped[0].sequence, entries


def entry_of(fact: Fact, history: History) -> Entry | None:
    """What is told of a fact; None for those that only the machinery needs."""
    match fact.payload:
        case Message() as message:
            who = f"user, {fact.at:%Y-%m-%d %H:%M} UTC"
            head = who if message.role is Role.USER else "assistant"
            text = _said(message)
            return Entry(fact.sequence, head, text) if text else None
        case ToolCall(name=name, arguments=arguments):
            return Entry(fact.sequence, f"call of {name}", arguments, name == _OWN_NAME)
        case ToolResult() as result:
            call = history.call(result.call_id)
            name = call.name if call else "a tool"
            return Entry(
                fact.sequence, f"result of {name}", _outcome(result, name), name == _OWN_NAME
            )
        case RunFact(status=RunStatus.CANCELED | RunStatus.FAILED | RunStatus.INTERRUPTED) as run:
            why = run.termination.message if run.termination else ""
            return Entry(fact.sequence, f"the run was {run.status}", why)
        case _:
            return None


def _said(message: Message) -> str:
    """The visible parts; thinking is not for the record that a model reads."""
    said: list[str] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            said.append(part.text)
        elif isinstance(part, AttachmentPart):
            name = f" {part.name}" if part.name else ""
            said.append(f"[attachment{name}, {part.media_type}, artifact {part.artifact_id}]")
    return "\n".join(said)


def _outcome(result: ToolResult, name: str) -> str:
    if name == _OWN_NAME and result.status is ToolStatus.SUCCEEDED:
        return "[left out: it stands elsewhere in the history]"
    told: list[str] = []
    if result.error is not None:
        told.append(f"failed ({result.error.code}): {result.error.message}")
    if result.status is ToolStatus.OUTCOME_UNKNOWN:
        told.append("nobody knows whether it was done")
    if result.output is not None:
        told.append(_plain(result.output))
    told.extend(
        f"[artifact {kept.id}: {kept.name}, {kept.media_type}]" for kept in result.artifacts
    )
    return "\n".join(told)


def _plain(output: str) -> str:
    """A JSON string as the text that it stands for, anything else as it is."""
    try:
        value = loads(output) if output.startswith('"') else output
    except JsonError:
        return output
    return value if isinstance(value, str) else output
