"""How `agentslot run` shows a Run: as text for people, as JSON lines for programs."""

from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Protocol, TextIO

from agentslot._json import dumps, replace_lone_surrogates
from agentslot.interaction import ChannelSession, Event, RunResult
from agentslot.interaction.cli import LiveView, Screen
from agentslot.session import ClassifiedError
from agentslot.standardagent.command.failure import readable

Record = dict[str, object]


class Show(Protocol):
    """Shows a Run as it goes, and its end."""

    def opened(self, session: ChannelSession) -> None:
        """The Session is open."""
        ...

    def event(self, event: Event) -> None:
        """Something happened."""
        ...

    def result(self, result: RunResult) -> None:
        """The Run has ended."""
        ...

    def canceling(self) -> None:
        """The Run was asked to end."""
        ...

    def error(self, error: Exception) -> None:
        """Something went wrong."""
        ...


class ShowText:
    """For people: the text on one stream, activity on the other."""

    def __init__(self, answers: TextIO, notes: TextIO) -> None:
        self._screen = Screen(answers, notes)
        self._live = LiveView(self._screen)

    def opened(self, session: ChannelSession) -> None:
        """Name the Session, so that one can come back to it."""
        self._screen.note(f"session {session.id}", "dim")
        for repair in session.repairs:
            self._screen.note(f"mended: {repair.description}", "yellow")

    def event(self, event: Event) -> None:
        """Show text and tools."""
        self._live.show(event)

    def result(self, result: RunResult) -> None:
        """Show what the events left out."""
        self._live.settle(result.messages)
        self._live.run_ended(result.status, result.termination)

    def canceling(self) -> None:
        """Say what another Ctrl-C does."""
        self._screen.note("canceling; Ctrl-C again leaves at once", "yellow")

    def error(self, error: Exception) -> None:
        """One line."""
        self._screen.note(str(error), "red")


class ShowJson:
    """For programs: every event and the result, one a line; the first member is the `type`."""

    def __init__(self, answers: TextIO) -> None:
        self._stream = answers

    def opened(self, session: ChannelSession) -> None:
        """The first line names the Session."""
        self._write(
            {
                "type": "session",
                "session_id": session.id,
                "revision": session.revision,
                "repairs": [asdict(repair) for repair in session.repairs],
            }
        )

    def event(self, event: Event) -> None:
        """Write the event."""
        self._write(event_record(event))

    def result(self, result: RunResult) -> None:
        """Write the result."""
        self._write(result_record(result))

    def canceling(self) -> None:
        """Programs see the result."""

    def error(self, error: Exception) -> None:
        """Write the error."""
        self._write(error_record(error))

    def _write(self, record: Record) -> None:
        self._stream.write(f"{replace_lone_surrogates(dumps(record))}\n")
        self._stream.flush()


def event_record(event: Event) -> Record:
    """An event: its kind as `type`, where it comes from, and what it says."""
    fields = asdict(event, dict_factory=_members)
    for named in ("kind", "origin"):
        del fields[named]
    return {"type": event.kind, **asdict(event.origin), **fields}


def _members(fields: Sequence[tuple[str, object]]) -> Record:
    """Members of a JSON object; an exact amount is a text, so that no reader rounds it."""
    return {name: str(v) if isinstance(v, Decimal) else v for name, v in fields}


def result_record(result: RunResult) -> Record:
    """The end of a Run; `error` says why it was not completed, else it is null."""
    return {
        "type": "result",
        "session_id": result.session_id,
        "run_id": result.run_id,
        "revision": result.revision,
        "status": result.status,
        "text": result.text,
        "usage": asdict(result.usage),
        "error": None if result.termination is None else asdict(result.termination),
    }


def error_record(error: Exception) -> Record:
    """An error that left no result; classified ones carry `kind` and `code`."""
    message = readable(error).removeprefix("agentslot: ")
    record: Record = {"type": "error", "error": type(error).__name__, "message": message}
    if isinstance(error, ClassifiedError):
        record |= {"kind": error.kind, "code": error.code, "message": error.message}
    return record
