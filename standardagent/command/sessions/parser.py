"""The options of `agentslot sessions` and its actions."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from importlib import import_module

from agentslot.standardagent.command.subcommand import Subparsers, help_of

ACTIONS = ("list", "show", "tree", "fork", "export", "check", "undo")

_EXAMPLE = """\
example:
  $ agentslot sessions tree
  session-6f1c…-1  9 facts  Why does tests/test_invoice.py fail?
  └─ session-90ab…-1  at fact 4 of 9  12 facts  Use decimals instead.
  $ agentslot sessions export --session session-6f1c…-1 --output why.html

An application that runs is not disturbed, and no session is changed: `fork` and `check --salvage`
write new sessions only. `undo` changes files of yours back."""


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the actions of `sessions`."""
    parser = subparsers.add_parser(
        "sessions",
        help="list, read, fork, export and check stored sessions; undo changes to files",
        description="Look after stored sessions.",
    )
    parser.epilog, parser.formatter_class = _EXAMPLE, RawDescriptionHelpFormatter
    parser.set_defaults(action=help_of(parser))
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    for name in ACTIONS:
        module = import_module(f"agentslot.standardagent.command.sessions.{name}")
        subparser = module.add_parser(actions)
        subparser.set_defaults(action=module.run, parser=subparser)
    return parser


def run(options: Namespace) -> int:
    """Do what was asked for."""
    code: int = options.action(options)
    return code
