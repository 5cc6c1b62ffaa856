"""The differences that are meant. Each has a reason; one that is gone must leave the ledger."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from tests.difftest.compare import Difference, Kind

LEDGER = Path(__file__).with_name("ledger.toml")
RECORDED = Path(__file__).with_name("ledger_recorded.toml")
"""What differs from the recorded requests alone."""


class Verdict(StrEnum):
    """What a comparison came to."""

    PASS = "PASS"
    KNOWN = "KNOWN"
    """It differs, in no place that the ledger does not know."""
    FAIL = "FAIL"
    FIXED = "FIXED"
    """The ledger knows a difference that is not there (any more)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One difference that is meant.

    Attributes:
        vendor: key of the vendor; `*` in it stands for anything, as in `scenario`.
        scenario: which scenarios it may show in.
        path: where; `[*]` stands for any index and `**` for any end or middle of a path.
        reason: why it is right.
        ours: our value as canonical JSON, if only this one is meant.
        theirs: their value, likewise.
    """

    vendor: str
    scenario: str
    path: str
    kind: Kind
    reason: str
    ours: str | None = None
    theirs: str | None = None

    def covers(self, vendor: str, scenario: str) -> bool:
        """Whether it speaks of that comparison."""
        return fnmatchcase(vendor, self.vendor) and fnmatchcase(scenario, self.scenario)

    def explains(self, difference: Difference) -> bool:
        """Whether that is the difference it means."""
        return (
            self.kind is difference.kind
            and _matches(self.path, difference.path)
            and self.ours in (None, difference.ours)
            and self.theirs in (None, difference.theirs)
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two documents of one vendor and scenario, compared.

    Attributes:
        known: the differences that the ledger knows.
        unknown: the others.
    """

    vendor: str
    scenario: str
    known: tuple[Difference, ...]
    unknown: tuple[Difference, ...]

    @property
    def verdict(self) -> Verdict:
        """What it came to."""
        if self.unknown:
            return Verdict.FAIL
        return Verdict.KNOWN if self.known else Verdict.PASS


class Ledger:
    """The entries, and which of them were needed."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = tuple(entries)
        self._needed: set[Entry] = set()
        self._tried: set[Entry] = set()

    @classmethod
    def load(cls, *paths: Path) -> "Ledger":
        """Read these files.

        Raises:
            TypeError: an entry lacks a member, or has one that is unknown.
            ValueError: an entry has no reason, or no such kind.
        """
        files = [tomllib.loads(path.read_text(encoding="utf-8")) for path in paths]
        tables = [table for file in files for table in file["known"]]
        entries = [Entry(**{**table, "kind": Kind(table["kind"])}) for table in tables]
        for entry in entries:
            if not entry.reason.strip():
                raise ValueError(f"the entry for {entry.path} has no reason")
        return cls(entries)

    @property
    def vendors(self) -> set[str]:
        """Whom the entries speak of."""
        return {entry.vendor for entry in self._entries}

    def judge(self, vendor: str, scenario: str, differences: Iterable[Difference]) -> Comparison:
        """Tell what is known from what is not."""
        entries = [entry for entry in self._entries if entry.covers(vendor, scenario)]
        self._tried.update(entries)
        known: list[Difference] = []
        unknown: list[Difference] = []
        for difference in differences:
            entry = next((entry for entry in entries if entry.explains(difference)), None)
            (unknown if entry is None else known).append(difference)
            if entry is not None:
                self._needed.add(entry)
        return Comparison(vendor, scenario, tuple(known), tuple(unknown))

    def stale(self, *, whole: bool) -> Sequence[Entry]:
        """Entries that explained nothing.

        Args:
            whole: whether every scenario was compared; if not, only those entries count that a
                comparison could have needed.
        """
        due = self._entries if whole else [e for e in self._entries if e in self._tried]
        return [entry for entry in due if entry not in self._needed]


def _matches(pattern: str, path: str) -> bool:
    escaped = re.escape(pattern).replace(r"\[\*\]", r"\[\d+\]").replace(r"\*\*", ".*")
    return re.fullmatch(escaped, path) is not None
