"""`agentslot sessions check`: what is wrong with stored Sessions, and how to keep what is not."""

from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anyio import to_thread

from agentslot.interaction.cli import printable
from agentslot.session import (
    Beginning,
    FileReport,
    Problem,
    SessionDamagedError,
    SessionId,
    check_file,
    salvage,
)
from agentslot.standardagent.command.asynchronous import run_async
from agentslot.standardagent.command.sessions.output import print_json
from agentslot.standardagent.command.sessions.places import Place, add_places, places
from agentslot.standardagent.command.subcommand import Subparsers
from agentslot.standardagent.runtime.ids import Ids


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `check`."""
    parser = subparsers.add_parser(
        "check",
        help="explain damage, save what is intact",
        description="Read sessions whole and explain damage by file and line, or by fact. With"
        " --salvage the intact beginning of each damaged session becomes a new session beside it;"
        " the damaged one stays as it is. Exit code 1 if something is damaged and was not saved.",
    )
    add_places(parser)
    parser.add_argument(
        "--salvage", action="store_true", help="write what is intact as a new session"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


@dataclass(frozen=True, slots=True)
class Finding:
    """What a Session is like."""

    text: str
    record: dict[str, object]
    is_damaged: bool
    saved: SessionId | None = None


def run(options: Namespace) -> int:
    """Check all Sessions of all places."""
    damaged = False
    for place in places(options):
        files = [_check_file(path, options) for path in place.session_files]
        for finding in files or run_async(partial(_check_store, place, options)):
            damaged |= finding.is_damaged and finding.saved is None
            if options.json:
                print_json(finding.record | {"salvaged": finding.saved})
            else:
                print(printable(finding.text))
    return 1 if damaged else 0


def _check_file(path: Path, options: Namespace) -> Finding:
    report = _report(path)
    text, saved = str(report), None
    if report.problems and report.intact is not None:
        if options.salvage:
            saved = Ids().session()
            text += f"\n  saved as session {saved} in {salvage(path, saved)}"
        else:
            text += f"\n  to keep that: agentslot sessions check --salvage {path}"
    return Finding(text, _record(report), bool(report.problems), saved)


def _report(path: Path) -> FileReport:
    try:
        return check_file(path)
    except OSError as error:
        problem = Problem(1, 0, f"it could not be read: {error.strerror}")
        return FileReport(path, None, 0, (problem,), None)


def _record(report: FileReport) -> dict[str, object]:
    state = report.intact
    return {
        "path": str(report.path),
        "ok": not report.problems,
        "session_id": None if state is None else state.id,
        "intact_revision": None if state is None else state.revision,
        "intact_bytes": report.intact_bytes,
        "problems": report.problems,
        "unfinished": report.unfinished,
    }


async def _check_store(place: Place, options: Namespace) -> list[Finding]:
    """The Sessions of a store that has no file for each."""
    async with place.reading():
        rows = await place.overview()
        found = [await _look_at(place, row.summary.id) for row in rows]
    salvageable = [each for each in found if each.kept] if options.salvage else []
    if not salvageable:
        return [each.finding() for each in found]
    async with place.writing():
        saved = {each.session_id: await _save(place, each) for each in salvageable}
    return [each.finding(saved.get(each.session_id)) for each in found]


@dataclass(frozen=True, slots=True)
class _Stored:
    """A Session in a store that has no file for each.

    Attributes:
        problem: what is wrong with it; empty if nothing.
        beginning: its intact facts, if something is wrong and the store can tell.
    """

    place: Place
    session_id: SessionId
    problem: str
    beginning: Beginning | None

    @property
    def kept(self) -> int:
        """How many facts a new Session can begin with."""
        return self.beginning.kept if self.beginning is not None else 0

    def finding(self, saved: SessionId | None = None) -> Finding:
        text = f"{self.place.name}: session {self.session_id}: {self.problem or 'no problems'}"
        if self.problem:
            text += f"\n  {self._intact(saved)}"
        record: dict[str, object] = {
            "path": self.place.name,
            "ok": not self.problem,
            "session_id": self.session_id,
            "problems": [self.problem] if self.problem else [],
        }
        if self.beginning is not None:
            record |= {"intact_facts": self.beginning.facts, "salvageable_facts": self.kept}
        return Finding(text, record, bool(self.problem), saved)

    def _intact(self, saved: SessionId | None) -> str:
        beginning = self.beginning
        if beginning is None:
            return f"{self.place.name} cannot tell what is intact of it"
        intact = f"{beginning.facts} facts are intact"
        if not self.kept:
            return f"{intact}, and a new session cannot begin with them: nothing can be saved"
        kept = "all of them" if self.kept == beginning.facts else f"the first {self.kept}"
        if saved is not None:
            return f"{intact}; {kept} saved as session {saved}"
        return f"{intact}; to keep {kept}, run the same check with --salvage"


async def _look_at(place: Place, session_id: SessionId) -> _Stored:
    problem = (await _problem(place, session_id)).removeprefix(f"session {session_id!r}: ")
    beginning: Beginning | None = None
    try:
        beginning = await place.examine(session_id)
    except SessionDamagedError as error:
        problem = error.reason
    if beginning is not None and beginning.problem:
        problem = beginning.problem  # it says more than what reading stumbled over
    return _Stored(place, session_id, problem, beginning if problem else None)


async def _save(place: Place, stored: _Stored) -> SessionId:
    assert stored.beginning is not None  # something of it can be kept
    new = stored.beginning.salvaged(Ids().session())
    return (await place.store.create(new)).id


async def _problem(place: Place, session_id: SessionId) -> str:
    """What is wrong with a Session, of which loading leaves most on the medium; "" if nothing."""
    try:
        state = await place.load(session_id)
        await to_thread.run_sync(_read, state.history)
    except SessionDamagedError as error:
        return error.reason
    try:
        await to_thread.run_sync(_read, state.retained_contexts)
    except SessionDamagedError as error:
        # Whoever works in it may have let old contexts go meanwhile.
        moved = (await place.load(session_id)).revision != state.revision
        return "" if moved else error.reason
    return ""


def _read(items: Iterable[object]) -> None:
    deque(items, maxlen=0)
