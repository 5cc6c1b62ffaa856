"""The options of `agentslot sessions` and its actions."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter

from agentslot.standardagent.command.subcommand import COMMANDS, Subparsers, add_subcommands

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
        help=COMMANDS["sessions"],
        description="Look after stored sessions.",
    )
    parser.epilog, parser.formatter_class = _EXAMPLE, RawDescriptionHelpFormatter
    package = "agentslot.standardagent.command.sessions"
    add_subcommands(parser, package, ACTIONS, title="actions", metavar="ACTION")
    return parser


def run(options: Namespace) -> int:
    """Do what was asked for."""
    code: int = options.action(options)
    return code
