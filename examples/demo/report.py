"""What came of it: the promises of the demonstration, each held against the facts."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentslot.interaction.cli import Screen
from agentslot.model import Price
from agentslot.session import RunStatus
from examples.demo.gate import Run
from examples.demo.record import CallRecord, Record
from examples.demo.stage import Stage

_INDENT = 17


@dataclass(frozen=True, slots=True)
class Finding:
    """One entry of the report; `holds` is None where nothing was promised."""

    name: str
    text: str
    holds: bool | None = None

    def show(self, screen: Screen) -> None:
        """Write it with a mark."""
        text = self.text.replace("\n", f"\n{' ' * (_INDENT + 2)}")
        line = f"{self.name:<{_INDENT}}{text}"
        if self.holds is None:
            screen.note(f"  {line}")
        elif self.holds:
            screen.note(f"✓ {line}", "green")
        else:
            screen.note(f"✗ {line}", "red")


def findings(stage: Stage, records: Sequence[Record], price: Price | None) -> Iterator[Finding]:
    """All that there is to say at the end, promises first.

    Args:
        stage: where the agent worked.
        records: the Sessions that it has left there.
        price: what its model costs, or None if that is not known.
    """
    yield _tests(stage)
    yield Finding("the repair", stage.changes().rstrip() or "none", holds=None)
    if len(records) != 1:
        yield Finding("Session", f"there is not one, there are {len(records)}", holds=False)
        return
    (record,) = records
    yield killed_command(stage.gate.runs, record)
    yield _runs(record)
    usage = record.usage
    yield Finding(
        "tokens", f"{usage.input:,} in, {usage.output:,} out, in {record.requests} requests"
    )
    yield Finding("cost", cost(record, price))
    yield Finding("Session", f"{record.session_id}, in\n{record.path}")
    yield Finding("look at it", _command("sessions", "show", str(record.path)))


def _tests(stage: Stage) -> Finding:
    if not stage.tests_are_untouched():
        return Finding("tests", "were changed by the agent: that proves nothing", holds=False)
    passed, printed = stage.run_tests()
    lines = [line for line in printed.splitlines() if line.strip("-")]
    return Finding("tests", ": ".join(lines[-2:]), holds=passed)


def killed_command(runs: Sequence[Run], record: Record) -> Finding:
    """Whether the command that was killed ran once; `runs` are all that knocked at the gate."""
    name = "killed command"
    if len(record.unknown) != 1:
        text = f"{len(record.unknown)} calls have the outcome unknown, instead of one"
        return Finding(name, text, holds=False)
    (killed,) = record.unknown
    others = [each for each in record.calls if each is not killed]
    # A repetition could come at any time, but not while another call was at work.
    shells = {run.shell for run in runs if not any(_covers(each, run) for each in others)}
    times = "once" if len(shells) == 1 else f"{len(shells)} times"
    text = f"ran {times}; its outcome is on record as unknown"
    return Finding(name, text, holds=len(shells) == 1)


def _covers(call: CallRecord, run: Run) -> bool:
    return call.began <= run.at <= call.ended


def _runs(record: Record) -> Finding:
    holds = record.runs == (RunStatus.INTERRUPTED, RunStatus.COMPLETED)
    return Finding("runs", f"{', then '.join(record.runs)}: one Session", holds=holds)


def cost(record: Record, price: Price | None) -> str:
    """What the tokens of a Session cost, in words."""
    if price is None:
        return "unknown: no price of this model is known here"
    return (
        f"${price.cost(record.usage):.4f} at an example price of ${price.input} in and"
        f" ${price.output} out per million tokens"
    )


def _command(*arguments: str) -> str:
    """The command line, as it can be typed in any folder."""
    installed = Path(sys.executable).with_name("agentslot")
    program = [str(installed)] if installed.exists() else [sys.executable, "-m", "agentslot"]
    return shlex.join([*program, *arguments])
