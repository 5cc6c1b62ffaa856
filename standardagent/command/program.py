"""The program behind `agentslot`: finds the subcommand, runs it, turns failures into exit codes."""

import os
import sys
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Sequence
from importlib import import_module

from agentslot import AgentSlotError
from agentslot.standardagent.command.failure import exit_code, readable

COMMANDS = ("run", "chat", "describe", "sessions", "catalog", "conformance", "doctor")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code; `argv` is `sys.argv[1:]` unless given."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = _parser(arguments)
    options = parser.parse_args(arguments)
    reconfigure = getattr(sys.stdout, "reconfigure", None)  # a stream put there may lack it
    if reconfigure is not None:
        # A terminal that lacks a character shows its escape instead of a traceback.
        reconfigure(errors="backslashreplace")
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except AgentSlotError as error:
        print(readable(error), file=sys.stderr)
        return exit_code(error)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # What is still buffered has nowhere to go, and the interpreter would complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return code


def _parser(arguments: Sequence[str]) -> ArgumentParser:
    """Know every subcommand; import only the one that is asked for, if it is clear which."""
    parser = ArgumentParser(
        prog="agentslot", description="Run, look into and look after AgentSlot applications."
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    first = next((word for word in arguments if not word.startswith("-")), None)
    for name in [first] if first in COMMANDS else COMMANDS:
        module = import_module(f"agentslot.standardagent.command.{name}")
        module.add_parser(subparsers).set_defaults(run=module.run)
    return parser


class _Version(Action):
    """Show the installed version."""

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: object,
        option: str | None = None,
    ) -> None:
        # Only this option needs the metadata, and reading it takes longer than all the rest.
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"agentslot {version('agentslot')}")
        except PackageNotFoundError:
            print("agentslot (not installed: this is its source folder)")
        parser.exit()
