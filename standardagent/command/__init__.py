"""The `agentslot` command.

Each subcommand is a module of this package with two functions, `add_parser(subparsers)` and
`run(arguments) -> int`; the name of the module is the name of the subcommand. Results go to
standard output, everything else to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage,
130 interrupted, 141 the reader of standard output went away.
"""

from agentslot.standardagent.command.program import main
from agentslot.standardagent.command.subcommand import COMMANDS

__all__ = ["COMMANDS", "main"]
