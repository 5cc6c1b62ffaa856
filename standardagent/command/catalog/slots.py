"""`agentslot catalog slots`: the standard slots, and how far their contracts have come."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby

from agentslot._json import dumps
from agentslot.componentcatalog import (
    CATALOG_VERSION,
    Component,
    components_page,
    counts,
    standard,
)
from agentslot.standardagent.command.subcommand import Subparsers


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `slots`."""
    parser = subparsers.add_parser(
        "slots",
        help="the standard slots, and how far their contracts have come",
        description="List the standard slots: what a component in each is for, how many there may"
        " be, and whether there is a contract to implement.",
    )
    parser.add_argument(
        "--format",
        choices=("table", "json", "markdown"),
        default="table",
        help="what to show (default: %(default)s)",
    )
    return parser


def run(options: Namespace) -> int:
    """List them."""
    if options.format == "markdown":
        print(components_page(), end="")
    elif options.format == "json":
        rows = [asdict(row) for row in standard()]
        print(dumps({"schema": CATALOG_VERSION, "components": rows}))
    else:
        _print_table(standard())
    return 0


def _print_table(rows: Sequence[Component]) -> None:
    width = max(len(row.id) for row in rows)
    for domain, members in groupby(rows, key=lambda row: row.domain):
        print(domain)
        for row in members:
            print(f"  {row.id:<{width}}  {row.kind:<5}  {row.maturity:<10}  {row.purpose}")
    print(", ".join(f"{count} {maturity}" for maturity, count in counts().items() if count))
