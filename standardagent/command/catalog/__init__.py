"""`agentslot catalog`: what this release knows, to choose from.

Each thing that can be listed is a module of this package with the two functions of a subcommand,
`add_parser(subparsers)` and `run(options) -> int`; its name is what is typed.
"""

from agentslot.standardagent.command.catalog.parser import LISTS, add_parser, run

__all__ = ["LISTS", "add_parser", "run"]
