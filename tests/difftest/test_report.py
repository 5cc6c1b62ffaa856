"""Verdicts, the ledger, and the status that a run ends with."""

from pathlib import Path

import pytest

from tests.difftest.compare import Difference, Kind, compare, parse
from tests.difftest.ledger import LEDGER, Comparison, Entry, Ledger, Verdict
from tests.difftest.run import Report
from tests.difftest.scenarios import SCENARIOS, VENDORS

ENTRY = Entry("acme", "cache-*", "$.a[*].b", Kind.OURS, "It is right.", ours="1")


def judged(ledger: Ledger, ours: str, theirs: str, scenario: str = "cache-long") -> Comparison:
    return ledger.judge("acme", scenario, compare(parse(ours), parse(theirs)))


def report(ledger: Ledger, *comparisons: Comparison) -> Report:
    return Report(list(comparisons), fixed=ledger.stale(whole=True))


def test_a_difference_that_the_ledger_knows_is_known_and_counted() -> None:
    ledger = Ledger([ENTRY])
    made = report(ledger, judged(ledger, '{"a":[{"b":1}]}', '{"a":[{}]}'))
    assert (made.status, made.count(Verdict.KNOWN), made.count(Verdict.PASS)) == (0, 1, 0)
    assert list(made.lines())[-1].startswith("1 compared: 0 PASS, 1 KNOWN, 0 FAIL, 0 FIXED")


@pytest.mark.parametrize(
    ("ours", "theirs", "scenario"),
    [
        ('{"a":[{"b":2}]}', '{"a":[{}]}', "cache-long"),
        ('{"a":[{}]}', '{"a":[{"b":1}]}', "cache-long"),
        ('{"a":[{"b":1}]}', '{"a":[{"b":3}]}', "cache-long"),
        ('{"a":[{"c":1}]}', '{"a":[{}]}', "cache-long"),
        ('{"a":[{"b":1}]}', '{"a":[{}]}', "greeting"),
    ],
)
def test_a_difference_with_another_value_kind_path_or_scenario_is_a_failure(
    ours: str, theirs: str, scenario: str
) -> None:
    ledger = Ledger([ENTRY])
    made = report(ledger, judged(ledger, ours, theirs, scenario))
    assert (made.status, made.comparisons[0].verdict) == (1, Verdict.FAIL)
    assert any(line.startswith("    $.a") for line in made.lines())


def test_an_entry_that_explains_nothing_is_stale() -> None:
    ledger = Ledger([ENTRY])
    made = report(ledger, judged(ledger, "{}", "{}"))
    assert (made.status, made.count(Verdict.PASS), made.count(Verdict.FIXED)) == (3, 1, 1)
    assert "FIXED acme cache-*: $.a[*].b: only ours is no more" in made.lines()


def test_a_failure_outweighs_a_stale_entry() -> None:
    ledger = Ledger([ENTRY])
    assert report(ledger, judged(ledger, "1", "2")).status == 1


def test_a_run_of_some_vendors_judges_the_entries_of_these_alone() -> None:
    ledger = Ledger([ENTRY, Entry("other", "*", "$", Kind.VALUE, "It is right.")])
    judged(ledger, "{}", "{}")
    assert ledger.stale(whole=False) == [ENTRY]
    assert len(ledger.stale(whole=True)) == 2


def test_a_run_that_compared_nothing_fails_without_a_tally() -> None:
    made = Report()
    assert (made.status, list(made.lines())) == (1, ["nothing was compared"])


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("$.a[*]", "$.a[10]", True),
        ("$.a[*]", "$.a[1].b", False),
        ("$.a[1]", "$.a[2]", False),
        ("$.a**", "$.a[1].b", True),
        ("$.a**.c", "$.a[1].b.c", True),
        ("$.a.b", "$.axb", False),
    ],
)
def test_a_path_means_an_index_or_a_whole_end(pattern: str, path: str, *, expected: bool) -> None:
    entry = Entry("*", "*", pattern, Kind.OURS, "It is right.")
    assert entry.explains(Difference(path, Kind.OURS, "1", "")) is expected


def test_an_entry_needs_a_reason_and_knows_no_other_member(tmp_path: Path) -> None:
    file = tmp_path / "ledger.toml"
    entry = '[[known]]\nvendor="a"\nscenario="b"\npath="$"\nkind="only ours"\nreason='
    file.write_text(f'{entry}" "', encoding="utf-8")
    with pytest.raises(ValueError, match="no reason"):
        Ledger.load(file)
    file.write_text(f'{entry}"so"\nwhy="so"', encoding="utf-8")
    with pytest.raises(TypeError, match="why"):
        Ledger.load(file)


def test_the_ledger_speaks_of_vendors_that_there_are() -> None:
    assert Ledger.load(LEDGER).vendors <= set(VENDORS)


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_vendor_has_at_least_twelve_scenarios(vendor: str) -> None:
    names = [scenario.name for scenario in SCENARIOS if vendor in scenario.vendors]
    assert len(names) == len(set(names)) >= 12
