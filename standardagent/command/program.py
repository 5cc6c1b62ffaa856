"""The program behind `agentslot`: finds the subcommand, runs it, turns failures into exit codes."""

import sys
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from agentslot import AgentSlotError
from agentslot.standardagent.command.failure import exit_code, is_full, readable, without_passwords
from agentslot.standardagent.command.stdout import drop_lost, open_missing
from agentslot.standardagent.command.subcommand import COMMANDS, help_of


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code; `argv` is `sys.argv[1:]` unless given."""
    open_missing()
    arguments = list(sys.argv[1:] if argv is None else argv)
    reconfigure = getattr(sys.stdout, "reconfigure", None)  # a stream put there may lack it
    if reconfigure is not None:
        # A terminal that lacks a character shows its escape instead of a traceback.
        reconfigure(errors="backslashreplace")
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
    except AgentSlotError as error:
        print(without_passwords(readable(error)), file=sys.stderr)
        return exit_code(error)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        drop_lost()
        return 141
    except OSError as error:
        if not is_full(error):
            raise  # somebody's mistake, and where it was made is for people
        drop_lost()
        print(
            f"agentslot: the output, or a file, could not be written: {error.strerror};"
            " make room and try again",
            file=sys.stderr,
        )
        return 1


def _run(arguments: Sequence[str]) -> int:
    options, left = _parser(arguments).parse_known_args(arguments)
    if left and not _took_late_prompt(options, left):
        options.parser.error(f"unrecognized arguments: {' '.join(left)}")
    code: int = options.run(options)
    return code


def _parser(arguments: Sequence[str]) -> ArgumentParser:
    """Import the one subcommand that is asked for; without one, know the names of all."""
    parser = _Parser(
        prog="agentslot", description="Run, look into and look after AgentSlot applications."
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    parser.set_defaults(run=help_of(parser), parser=parser)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    first = next((word for word in arguments if not word.startswith("-")), None)
    if first in COMMANDS:
        module = import_module(f"agentslot.standardagent.command.{first}")
        subparser = module.add_parser(subparsers)
        subparser.set_defaults(run=module.run, parser=subparser)
    else:
        for name, text in COMMANDS.items():
            subparsers.add_parser(name, help=text)
    return parser


def _took_late_prompt(options: Namespace, left: Sequence[str]) -> bool:
    """Take what is left over as the PROMPT of `run`, if it is one word that can be it; whether so.

    With an option before it, as in `run MODULE:APP --session ID PROMPT`, Python 3.11 and some
    releases of 3.12 and 3.13 take a PROMPT for missing and leave it over.
    """
    words = [word for word in left if word != "--"]
    is_prompt = len(words) == 1 and (words != left or words[0] == "-" or words[0][:1] != "-")
    if not is_prompt or getattr(options, "prompt", "") is not None:
        return False
    (options.prompt,) = words
    return True


class _Parser(ArgumentParser):
    """Shows what was not understood, which may be the address of a database, without a password."""

    def error(self, message: str) -> NoReturn:
        super().error(without_passwords(message))


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
