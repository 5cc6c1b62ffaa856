"""`agentslot sessions`: list stored sessions, read one, look for damage. Nothing is changed."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic_core import to_jsonable_python

from agentslot._json import dumps, replace_lone_surrogates
from agentslot.session import FileReport, SessionState, check_file
from agentslot.standardagent.command.failure import CommandError, UsageError
from agentslot.standardagent.command.places import sessions_folder
from agentslot.standardagent.command.subcommand import Subparsers
from agentslot.standardagent.command.transcript import first_words, transcript

_DESCRIPTION = """Look at stored sessions; nothing is changed, and a running application is not
disturbed. `list` shows one line a session, `show` its transcript, `check` explains damage."""


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `sessions`."""
    parser = subparsers.add_parser(
        "sessions", help="list, read and check stored sessions", description=_DESCRIPTION
    )
    parser.add_argument("action", choices=("list", "show", "check"), help="what to do")
    parser.add_argument(
        "paths",
        metavar="DIR",
        nargs="*",
        type=Path,
        help="folders with sessions, or session files (default: all of `agentslot chat`)",
    )
    parser.add_argument("--session", metavar="ID", help="only this one; show: not the latest")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def run(options: Namespace) -> int:
    """Read the files, then list, show or check them."""
    reports = [check_file(path) for path in _files(options.paths)]
    if options.session is not None:
        reports = [r for r in reports if r.intact is not None and r.intact.id == options.session]
        if not reports:
            raise CommandError(f"there is no session {options.session!r}; list shows what there is")
    match options.action:
        case "list":
            _list(reports, as_json=options.json)
        case "show":
            _show(reports, as_json=options.json)
        case _:
            return _check(reports, as_json=options.json)
    return 0


def _files(paths: list[Path]) -> Iterator[Path]:
    if not paths:
        yield from sorted(sessions_folder().glob("*/*.jsonl"))
        return
    for path in paths:
        if path.is_dir():
            yield from sorted(path.glob("*.jsonl"))
        elif path.is_file():
            yield path
        else:
            raise UsageError(f"there is no folder or file {str(path)!r}")


def _newest_first(reports: Iterable[FileReport]) -> list[SessionState]:
    states = [report.intact for report in reports if report.intact is not None]
    return sorted(states, key=lambda state: state.updated_at, reverse=True)


def _list(reports: list[FileReport], *, as_json: bool) -> None:
    damaged = {r.intact.id for r in reports if r.problems and r.intact is not None}
    rows = [(state, state.id in damaged) for state in _newest_first(reports)]
    if as_json:
        for state, is_damaged in rows:
            _print_json(_summary(state) | {"damaged": is_damaged})
        return
    for state, is_damaged in rows:
        print(
            f"{state.id}  {state.agent}  {state.workspace}  revision {state.revision}"
            f"  {state.updated_at:%Y-%m-%d %H:%M}"
            f"{'  DAMAGED' if is_damaged else ''}  {first_words(state)}"
        )


def _summary(state: SessionState) -> dict[str, object]:
    return {
        "session_id": state.id,
        "agent": state.agent,
        "workspace": state.workspace,
        "revision": state.revision,
        "updated_at": state.updated_at,
        "first_words": first_words(state),
    }


def _show(reports: list[FileReport], *, as_json: bool) -> None:
    states = _newest_first(reports)
    if not states:
        raise CommandError("there is no session that can be read; check says why")
    state = states[0]
    if as_json:
        for fact in state.history:
            _print_json(fact)
        return
    for line in transcript(state):
        print(line)


def _check(reports: list[FileReport], *, as_json: bool) -> int:
    for report in reports:
        if as_json:
            _print_json(_report(report))
        else:
            print(report)
    return 1 if any(report.problems for report in reports) else 0


def _report(report: FileReport) -> dict[str, object]:
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


def _print_json(value: object) -> None:
    print(replace_lone_surrogates(dumps(to_jsonable_python(value))))
