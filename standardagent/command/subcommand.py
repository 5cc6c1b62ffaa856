"""What a subcommand is given to declare itself with."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import NoReturn, Protocol


class Subparsers(Protocol):
    """The part of argparse's own, private type that subcommands use."""

    def add_parser(self, name: str, *, help: str, description: str) -> ArgumentParser:  # noqa: A002 - the parameter is argparse's
        """Add one subcommand: `help` stands in the list of all, `description` in its own help."""
        ...


def help_of(parser: ArgumentParser) -> Callable[[Namespace], NoReturn]:
    """What a command with subcommands does when none is named: it shows which there are."""

    def show(_: Namespace) -> NoReturn:
        parser.print_help(sys.stderr)
        parser.exit(2)

    return show
