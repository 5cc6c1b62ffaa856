"""`agentslot sessions show`: the transcript of one Session."""

from argparse import ArgumentParser, Namespace

from agentslot.standardagent.command.sessions.output import print_json
from agentslot.standardagent.command.sessions.places import add_places, find
from agentslot.standardagent.command.sessions.transcript import transcript
from agentslot.standardagent.command.subcommand import Subparsers


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `show`."""
    parser = subparsers.add_parser(
        "show",
        help="the transcript of a session",
        description="Show what was said and done in a session. The numbers are those of facts.",
    )
    add_places(parser)
    parser.add_argument("--session", metavar="ID", help="this one, not the latest")
    parser.add_argument("--json", action="store_true", help="every fact, one JSON object a line")
    return parser


def run(options: Namespace) -> int:
    """Show one Session."""
    _, state = find(options)
    if options.json:
        for fact in state.history:
            print_json(fact)
        return 0
    for line in transcript(state):
        print(line)
    return 0
