"""What a subcommand is given to declare itself with."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NoReturn, Protocol

COMMANDS = {
    "run": "send one prompt to an agent, or run an application",
    "chat": "talk to an agent in the terminal",
    "describe": "show what an application is assembled from",
    "sessions": "list, read, fork, export and check stored sessions; undo changes to files",
    "catalog": "list what this release knows",
    "conformance": "check a component against the contract of its slot",
    "doctor": "check this machine and say what is missing",
}
"""The subcommands with their line in the list of all, for which none of them is imported."""


class Subparsers(Protocol):
    """The part of argparse's own, private type that subcommands use."""

    def add_parser(self, name: str, *, help: str, description: str) -> ArgumentParser:  # noqa: A002 - the parameter is argparse's
        """Add one subcommand: `help` stands in the list of all, `description` in its own help."""
        ...


def add_subcommands(
    parser: ArgumentParser, package: str, names: Sequence[str], *, title: str, metavar: str
) -> None:
    """Declare the commands below a command: modules of a package, made like subcommands.

    What is to be done, `run` of the module that is named, stands in the options as `action`.
    """
    parser.set_defaults(action=help_of(parser))
    subparsers = parser.add_subparsers(title=title, metavar=metavar)
    for name in names:
        module = import_module(f"{package}.{name}")
        subparser = module.add_parser(subparsers)
        subparser.set_defaults(action=module.run, parser=subparser)


def help_of(parser: ArgumentParser) -> Callable[[Namespace], NoReturn]:
    """What a command with subcommands does when none is named: it shows which there are."""

    def show(_: Namespace) -> NoReturn:
        parser.print_help(sys.stderr)
        parser.exit(2)

    return show
