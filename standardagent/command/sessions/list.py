"""`agentslot sessions list`: one line a Session, newest change first."""

import sys
from argparse import ArgumentParser, Namespace
from functools import partial

from agentslot.session import SessionOverview
from agentslot.standardagent.command.asynchronous import run_async
from agentslot.standardagent.command.sessions.output import first_words, print_json, row_record
from agentslot.standardagent.command.sessions.places import (
    Place,
    add_places,
    places,
    tell_that_none_is_there,
)
from agentslot.standardagent.command.subcommand import Subparsers


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `list`."""
    parser = subparsers.add_parser(
        "list",
        help="one line a session, newest change first",
        description="List sessions, newest change first. No session is read whole.",
    )
    add_places(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def run(options: Namespace) -> int:
    """List what lies in all places."""
    rows = run_async(partial(_rows, places(options)))
    if not rows:
        tell_that_none_is_there(options)
    for row in rows:
        if options.json:
            print_json(row_record(row))
            continue
        summary = row.summary
        print(
            f"{summary.id}  {summary.agent}  {summary.workspace}  revision {summary.revision}"
            f"  {summary.updated_at:%Y-%m-%d %H:%M}  {first_words(row.first_message)}"
        )
    return 0


async def _rows(places: list[Place]) -> list[SessionOverview]:
    rows: list[SessionOverview] = []
    for place in places:
        async with place.reading():
            found = await place.overview()
        if len(found) < len(place.session_files):
            print(
                f"{place.name}: {len(place.session_files) - len(found)} damaged;"
                " `agentslot sessions check` explains it",
                file=sys.stderr,
            )
        rows += found
    return sorted(rows, key=lambda row: row.summary.updated_at, reverse=True)
