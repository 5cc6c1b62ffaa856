"""The options of `agentslot catalog` and its lists."""

from argparse import ArgumentParser, Namespace
from importlib import import_module

from agentslot.standardagent.command.subcommand import Subparsers, help_of

LISTS = ("models", "slots")


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the lists of `catalog`."""
    parser = subparsers.add_parser(
        "catalog",
        help="list what this release knows",
        description="List what this release knows.",
    )
    parser.set_defaults(action=help_of(parser))
    lists = parser.add_subparsers(title="lists", metavar="LIST")
    for name in LISTS:
        module = import_module(f"agentslot.standardagent.command.catalog.{name}")
        subparser = module.add_parser(lists)
        subparser.set_defaults(action=module.run, parser=subparser)
    return parser


def run(options: Namespace) -> int:
    """List what was asked for."""
    code: int = options.action(options)
    return code
