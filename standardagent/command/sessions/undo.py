"""`agentslot sessions undo`: take back what the agent last did to files."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from itertools import islice
from pathlib import Path

from agentslot.session import SessionId
from agentslot.standardagent.command.failure import CommandError
from agentslot.standardagent.command.places import changes_folder_of, current_folder
from agentslot.standardagent.command.subcommand import Subparsers
from agentslot.tool import ToolFailedError
from agentslot.tool.files import ChangeLog


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `undo`."""
    parser = subparsers.add_parser(
        "undo",
        help="take back the agent's last changes to files",
        description="Take back the last changes that file tools made, newest first. A file that"
        " somebody changed since stays as it is, and undo ends there. What commands did to files"
        " is not known.",
    )
    parser.add_argument(
        "changes", metavar="DIR", nargs="?", type=Path,
        help="folder of recorded changes (default: of `agentslot chat` in this folder)",
    )  # fmt: skip
    parser.add_argument("--session", metavar="ID", help="only changes of this session")
    parser.add_argument(
        "--last", metavar="N", type=_count, default=1, help="how many changes (default: 1)"
    )
    parser.add_argument("--list", action="store_true", help="show them and change nothing")
    return parser


def run(options: Namespace) -> int:
    """Take back, or show, the last changes."""
    folder = options.changes or changes_folder_of(current_folder())
    session_id = None if options.session is None else SessionId(options.session)
    log = ChangeLog(folder)
    chosen = list(islice(log.newest_first(session_id), options.last))
    if not chosen:
        raise CommandError(f"no change is recorded in {str(folder)!r}")
    for path, change in chosen:
        what = "created" if change.created else "changed"
        if options.list:
            print(f"{change.path}  {what} by call {change.call_id} of {change.session_id}")
            continue
        try:
            log.take_back(path)
        except (ToolFailedError, OSError) as error:
            raise CommandError(f"not taken back: {error}") from error
        print(f"{change.path}  {'removed again' if change.created else 'as it was before'}")
    return 0


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)
