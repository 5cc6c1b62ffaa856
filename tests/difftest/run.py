"""The comparison of all vendors, and its report."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.difftest import ours
from tests.difftest.compare import compare, parse, reordered, respelled
from tests.difftest.exchange import Exchange
from tests.difftest.ledger import LEDGER, Comparison, Entry, Ledger, Verdict
from tests.difftest.recordings import recorded
from tests.difftest.scenarios import SCENARIOS, Scenario
from tests.difftest.theirs import SPELLINGS, ask


@dataclass
class Report:
    """What a run found.

    Attributes:
        reordered: how many documents have their members in another order than theirs.
        fixed: entries of the ledger that explained nothing.
    """

    comparisons: list[Comparison] = field(default_factory=list[Comparison])
    reordered: int = 0
    fixed: Sequence[Entry] = ()

    def count(self, verdict: Verdict) -> int:
        """How many comparisons came to that."""
        if verdict is Verdict.FIXED:
            return len(self.fixed)
        return sum(comparison.verdict is verdict for comparison in self.comparisons)

    @property
    def status(self) -> int:
        """The exit status: 1 for a failure or nothing compared, 3 for a stale ledger, else 0."""
        if not self.comparisons or self.count(Verdict.FAIL):
            return 1
        return 3 if self.fixed else 0

    def lines(self) -> Iterator[str]:
        """The report for a person."""
        if not self.comparisons:
            yield "nothing was compared"
            return
        width = max(len(comparison.scenario) for comparison in self.comparisons)
        for comparison in self.comparisons:
            head = f"{comparison.vendor:16}  {comparison.scenario:{width}}  {comparison.verdict}"
            yield f"{head}  {len(comparison.known)} known" if comparison.known else head
            yield from (f"    {difference}" for difference in comparison.unknown)
        for entry in self.fixed:
            yield f"FIXED {entry.vendor} {entry.scenario}: {entry.path}: {entry.kind} is no more"
        tally = ", ".join(f"{self.count(verdict)} {verdict}" for verdict in Verdict)
        yield (
            f"{len(self.comparisons)} compared: {tally}"
            f" (members in another order in {self.reordered})"
        )


def run(vendors: Iterable[str], *, whole: bool, ledger: Ledger | None = None) -> Report:
    """Compare with the vendors' own clients.

    Args:
        vendors: whose.
        whole: whether these are all, so that every entry of the ledger must have been needed.
        ledger: the differences that are meant; None is the project's.

    Raises:
        RuntimeError: a client cannot be installed here, or failed.
    """
    report, known = Report(), ledger or Ledger.load(LEDGER)
    for vendor in vendors:
        scenarios = [scenario for scenario in SCENARIOS if vendor in scenario.vendors]
        streams = recorded(vendor)
        theirs = ask(vendor, scenarios, streams)
        compare_requests(report, known, vendor, scenarios, theirs.requests)
        for name, body in streams.items():
            _add(report, known, vendor, name, ours.read(vendor, body), theirs.answers[name])
    report.fixed = known.stale(whole=whole)
    return report


def compare_requests(
    report: Report,
    ledger: Ledger,
    vendor: str,
    scenarios: Iterable[Scenario],
    theirs: Mapping[str, Exchange],
) -> None:
    """Compare what we would send with what was sent."""
    for scenario in scenarios:
        sent = ours.encode(vendor, scenario).document()
        _add(report, ledger, vendor, scenario.name, sent, theirs[scenario.name].document())


def _add(report: Report, ledger: Ledger, vendor: str, name: str, mine: bytes, other: bytes) -> None:
    pair = parse(mine), respelled(parse(other), SPELLINGS.get(vendor, {}))
    report.comparisons.append(ledger.judge(vendor, name, compare(*pair)))
    report.reordered += any(True for _ in reordered(*pair))
