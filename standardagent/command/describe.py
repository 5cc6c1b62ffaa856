"""`agentslot describe`: show what an application is assembled from."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from agentslot import AgentSlotError
from agentslot._render import FORMATS, print_tree, render
from agentslot.standardagent.command.document import write
from agentslot.standardagent.command.failure import as_json, exit_code
from agentslot.standardagent.command.subcommand import COMMANDS, Subparsers
from agentslot.standardagent.command.target import build, load_application


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `describe`."""
    parser = subparsers.add_parser(
        "describe",
        help=COMMANDS["describe"],
        description="Build an application without starting it, and show what is in it.",
    )
    parser.add_argument(
        "application",
        metavar="MODULE:APP",
        help="where it is, as in examples.reference:application",
    )
    parser.add_argument(
        "--format", choices=FORMATS, default=FORMATS[0], help="what to show (default: %(default)s)"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write there instead of here")
    return parser


def run(options: Namespace) -> int:
    """Build and show; with `--format json` errors are JSON too, on standard error."""
    try:
        application = load_application(options.application)
        description = build(application).describe()
    except AgentSlotError as error:
        if options.format != "json":
            raise
        print(as_json(error), file=sys.stderr)
        return exit_code(error)
    if options.format == "tree" and options.output is None and sys.stdout.isatty():
        print_tree(description, sys.stdout)
        return 0
    document = render(description, options.format, title=application.name)
    write(f"{document}\n", options.output)
    return 0
