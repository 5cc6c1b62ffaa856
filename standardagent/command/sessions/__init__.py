"""`agentslot sessions`: find stored Sessions, read them, branch them off, look for damage.

Each action is a module of this package, made like a subcommand: `add_parser(subparsers)` and
`run(options) -> int`; the name of the module is the name of the action.
"""

from agentslot.standardagent.command.sessions.parser import ACTIONS, add_parser, run

__all__ = ["ACTIONS", "add_parser", "run"]
