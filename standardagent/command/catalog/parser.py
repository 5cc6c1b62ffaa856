"""The options of `agentslot catalog` and its lists."""

from argparse import ArgumentParser, Namespace

from agentslot.standardagent.command.subcommand import COMMANDS, Subparsers, add_subcommands

LISTS = ("models", "slots")


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the lists of `catalog`."""
    parser = subparsers.add_parser(
        "catalog",
        help=COMMANDS["catalog"],
        description="List what this release knows.",
    )
    package = "agentslot.standardagent.command.catalog"
    add_subcommands(parser, package, LISTS, title="lists", metavar="LIST")
    return parser


def run(options: Namespace) -> int:
    """List what was asked for."""
    code: int = options.action(options)
    return code
