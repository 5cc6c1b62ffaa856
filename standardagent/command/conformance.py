"""`agentslot conformance`: let the referee of a contract judge a component of anybody's."""

import tempfile
from argparse import (
    Action,
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    RawDescriptionHelpFormatter,
)
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Literal, NoReturn

import anyio

from agentslot._json import dumps, replace_lone_surrogates
from agentslot._text import counted, did_you_mean, near
from agentslot.session import safe_line
from agentslot.standardagent.command.asynchronous import run_async
from agentslot.standardagent.command.failure import UsageError
from agentslot.standardagent.command.subcommand import COMMANDS, Subparsers
from agentslot.standardagent.command.suites import SUITES, Case, Suite, Target
from agentslot.standardagent.command.target import load_object

Status = Literal["passed", "failed", "not_checked"]

_MARKS: dict[Status, str] = {"passed": "✓", "failed": "✗", "not_checked": "-"}
_EXAMPLE = """\
example:
  $ agentslot conformance session.store agentslot.session:SqliteStore
  ✓ a new session is at revision 1
  …

TARGET is MODULE:NAME. What it names, for

{targets}

A component that ignores its cancellation cannot be ended: a check of it hangs.

Exit code 0: everything passed; 1: something failed; 2: wrong usage."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one check; `reason` says why it did not pass."""

    check: str
    status: Status
    reason: str = ""


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `conformance`."""
    parser = subparsers.add_parser(
        "conformance",
        help=COMMANDS["conformance"],
        description="Run the public checks of a contract against a component and say which it"
        " passes, each on a fresh one in a folder that is removed afterwards.",
    )
    parser.epilog = _EXAMPLE.format(targets="\n".join(_targets()))
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.add_argument("--list", action=_List, help="say which contracts there are, and stop")
    parser.add_argument("contract", metavar="CONTRACT", help="name of a contract, see --list")
    parser.add_argument("target", metavar="TARGET", help="what makes the component")
    parser.add_argument(
        "--timeout",
        type=_positive,
        default=60.0,
        metavar="SECONDS",
        help="of a check (default: 60)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


def _positive(text: str) -> float:
    seconds = float(text)
    if not seconds > 0:
        raise ArgumentTypeError(f"{text} is not more than 0")
    return seconds


def _targets() -> Iterator[str]:
    """What has to be named, for each of the contracts that ask for the same."""
    contracts: dict[str, list[str]] = {}
    for name, suite in SUITES.items():
        contracts.setdefault(suite.target, []).append(name)
    for target, names in contracts.items():
        told = f"{', '.join(names)}: {target}"
        yield fill(told, 90, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


class _List(Action):
    """Lists the contracts instead of judging anything."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:  # noqa: A002 - argparse calls it so
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: ArgumentParser, *_: object) -> NoReturn:
        """Print them and exit."""
        for name in sorted(SUITES):
            print(SUITES[name].contract)
        parser.exit()


def run(options: Namespace) -> int:
    """Judge the target."""
    suite = _suite(options.contract)
    target = Target(options.target, load_object(options.target))
    outcomes: list[Outcome] = []
    for outcome in _judge(suite, target, options.timeout):
        outcomes.append(outcome)
        if not options.json:
            _print(outcome)
    failed = sum(outcome.status == "failed" for outcome in outcomes)
    if options.json:
        record = {
            "contract": suite.contract,
            "target": target.name,
            "ok": not failed,
            "checks": [asdict(outcome) for outcome in outcomes],
        }
        print(replace_lone_surrogates(dumps(record)))
    else:
        print(f"{suite.contract}: {counted(len(outcomes), 'check')}, {failed or 'none'} failed")
    return 1 if failed else 0


def _suite(contract: str) -> Suite:
    """The suite of a contract, named with or without its version."""
    for name, suite in SUITES.items():
        if contract in (name, suite.contract):
            return suite
    hint = did_you_mean(near(contract, SUITES)) or "; see `agentslot conformance --list`"
    raise UsageError(f"there are no checks for a contract {contract!r}{hint}")


def _judge(suite: Suite, target: Target, timeout: float) -> Iterator[Outcome]:
    with tempfile.TemporaryDirectory(prefix="agentslot-conformance-") as folder:
        for number, case in enumerate(suite.cases(target)):
            if case.not_checked:
                yield Outcome(case.name, "not_checked", case.not_checked)
            else:
                yield run_async(partial(_run, case, Path(folder) / str(number), timeout))


async def _run(case: Case, path: Path, timeout: float) -> Outcome:
    reason = f"it did not end within {timeout:g} s"
    with anyio.move_on_after(timeout) as scope:
        try:
            await case.run(path)
        except Exception as error:  # noqa: BLE001 - whatever somebody's component raises fails it
            return Outcome(case.name, "failed", str(getattr(error, "detail", error)))
    return (
        Outcome(case.name, "failed", reason)
        if scope.cancelled_caught
        else Outcome(case.name, "passed")
    )


def _print(outcome: Outcome) -> None:
    sentence = outcome.check.replace("_", " ")
    reason = f": {safe_line(outcome.reason, 2000)}" if outcome.reason else ""
    print(f"{_MARKS[outcome.status]} {sentence}{reason}")
