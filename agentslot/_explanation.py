"""Why a slot holds what it holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentslot._declaration import Contribution
from agentslot._defaults import FilledSlot
from agentslot._module import Module
from agentslot._registry import Entry
from agentslot._text import did_you_mean, near

if TYPE_CHECKING:  # pydantic is needed for descriptions only
    from agentslot._description import Source


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one contribution, and by which rule."""

    module: str
    key: str | None
    """Its key in a Many slot; None in the other kinds."""
    source: "Source"
    won: bool
    rule: str

    def __str__(self) -> str:
        key = "" if self.key is None else f" {self.key!r}"
        return f"{'✓' if self.won else '✗'}{key} from {self.module!r}, {self.source}: {self.rule}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """All contributions to one slot: those in force, in order, then those that were replaced."""

    slot: str
    verdicts: tuple[Verdict, ...]
    near: tuple[str, ...] = ()
    """Filled slots with a similar id, the closest first, where nobody contributes to this one."""

    @property
    def winners(self) -> tuple[Verdict, ...]:
        """The contributions in force."""
        return tuple(each for each in self.verdicts if each.won)

    @property
    def losers(self) -> tuple[Verdict, ...]:
        """The defaults that were replaced."""
        return tuple(each for each in self.verdicts if not each.won)

    def __str__(self) -> str:
        if not self.verdicts:
            return f"slot {self.slot!r}: nobody contributes{did_you_mean(self.near)}"
        return "\n".join([f"slot {self.slot!r}", *(f"  {each}" for each in self.verdicts)])


def explain(
    slot: str, filled_slots: Mapping[str, FilledSlot], modules: Sequence[Module]
) -> Explanation:
    """Explain one slot.

    Args:
        slot: Its id.
        filled_slots: All filled slots by id.
        modules: All modules, in the order in which entries name their owners.
    """
    filled = filled_slots.get(slot)
    if filled is None:
        return Explanation(slot, (), near(slot, filled_slots))

    def verdict(entry: Entry, *, won: bool) -> Verdict:
        contribution = entry.contribution
        return Verdict(
            modules[entry.owner].id,
            contribution.key,
            "default" if contribution.default else "explicit",
            won,
            _rule(contribution, won=won),
        )

    won = (verdict(entry, won=True) for entry in filled.entries)
    lost = (verdict(entry, won=False) for entry in filled.replaced)
    return Explanation(slot, (*won, *lost))


def _rule(contribution: Contribution, *, won: bool) -> str:
    if won:
        if contribution.default:
            return "a default stands alone"
        declared = ", declared to replace a default" if contribution.overrides else ""
        return f"an explicit value stands{declared}"
    if contribution.slot.kind == "chain":
        return "an explicit value replaces the whole default chain"
    return "an explicit value replaces every default"
