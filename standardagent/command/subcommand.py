"""What a subcommand is given to declare itself with."""

from argparse import ArgumentParser
from typing import Protocol


class Subparsers(Protocol):
    """The part of argparse's own, private type that subcommands use."""

    def add_parser(self, name: str, *, help: str, description: str) -> ArgumentParser:  # noqa: A002 - the parameter is argparse's
        """Add one subcommand: `help` stands in the list of all, `description` in its own help."""
        ...
