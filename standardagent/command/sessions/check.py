"""`agentslot sessions check`: what is wrong with stored Sessions, and how to keep what is not."""

from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anyio import to_thread

from agentslot.session import (
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
        " --salvage the intact beginning of each damaged file becomes a new session beside it; the"
        " file stays as it is. Exit code 1 if something is damaged and was not saved.",
    )
    add_places(parser)
    parser.add_argument(
        "--salvage", action="store_true", help="write what is intact as a new session"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


@dataclass(frozen=True, slots=True)
class Finding:
    """What a Session is like; only files can be salvaged."""

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
                print(finding.text)
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
        return [await _check_stored(place, row.summary.id, options) for row in rows]


async def _check_stored(place: Place, session_id: SessionId, options: Namespace) -> Finding:
    reason = await _problem(place, session_id)
    record: dict[str, object] = {
        "path": place.name,
        "ok": not reason,
        "session_id": session_id,
        "problems": [reason] if reason else [],
    }
    text = f"{place.name}: session {session_id}: {reason or 'no problems'}"
    if reason and options.salvage:
        text += "\n  nothing is saved of it: that can be done with files alone"
    return Finding(text, record, bool(reason))


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
