"""A built application: immutable, looked into with slots, started once."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, overload

from agentslot._declaration import AnySlot, Slot
from agentslot._defaults import FilledSlot
from agentslot._errors import AssemblyStarted, SlotEmpty
from agentslot._explanation import Explanation, explain
from agentslot._lifecycle import living
from agentslot._module import Module
from agentslot._resolver import read
from agentslot._slot import Chain, Many, One
from agentslot._text import did_you_mean, near
from agentslot._wiring import Wiring

if TYPE_CHECKING:  # pydantic is needed for descriptions only
    from agentslot._description import AssemblyDescription

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Runtime:
    """A running application."""

    assembly: "Assembly"
    """What is running."""


class Assembly:
    """A built application: what fills each slot, and the modules in the order they start.

    It is immutable; the values in it are shared with whoever contributed them. Only a build makes
    one.
    """

    __slots__ = ("_modules", "_started", "_values", "_wiring")

    def __init__(self, wiring: Wiring, values: Mapping[int, Any]) -> None:
        self._modules = tuple(wiring.modules[index] for index in wiring.order)
        self._wiring = wiring
        # By the declaration seen first; another one that means the same slot takes the slow way.
        self._values = {f.slot: read(f.slot, f, values) for f in wiring.filled.values()}
        self._started = False

    def __repr__(self) -> str:
        return f"<agentslot.Assembly modules={len(self._modules)} slots={len(self._values)}>"

    @property
    def modules(self) -> tuple[Module, ...]:
        """The modules in the order in which they start; they stop in reverse."""
        return self._modules

    @overload
    def __getitem__(self, slot: One[T]) -> T: ...
    @overload
    def __getitem__(self, slot: Many[T]) -> Mapping[str, T]: ...
    @overload
    def __getitem__(self, slot: Chain[T]) -> tuple[T, ...]: ...
    def __getitem__(self, slot: AnySlot) -> Any:
        """Return what is in a slot: the value, a read-only mapping by key, or a tuple.

        Raises:
            SlotEmpty: It is a One slot, and nobody fills it. The other kinds are just empty.
            TypeError: The id belongs to a slot of another kind or type.
        """
        try:
            return self._values[slot]
        except KeyError:
            filled = self._find(slot)
        if filled is None and slot.kind == "one":
            raise self._empty(slot)
        return self._read(slot, filled)

    @overload
    def get(self, slot: One[T]) -> T | None: ...
    @overload
    def get(self, slot: Many[T]) -> Mapping[str, T]: ...
    @overload
    def get(self, slot: Chain[T]) -> tuple[T, ...]: ...
    def get(self, slot: AnySlot) -> Any:
        """Return what is in a slot; None for a One slot that nobody fills.

        Raises:
            TypeError: The id belongs to a slot of another kind or type.
        """
        return self._read(slot, self._find(slot))

    def describe(self) -> "AssemblyDescription":
        """Return a picture of the application without its values, as `agentslot.assembly/v0`."""
        from agentslot._describe import describe  # pydantic is needed for descriptions only

        return describe(self._wiring)

    def fingerprint(self) -> str:
        """Return a stable hash of the description: `sha256:` and 64 hexadecimal digits."""
        return self.describe().fingerprint()

    def why(self, slot: AnySlot | str) -> Explanation:
        """Tell who contributed to a slot, who won, who lost, and by which rule.

        Args:
            slot: The slot, or its id.
        """
        slot_id = slot if isinstance(slot, str) else slot.id
        return explain(slot_id, self._wiring.filled, self._wiring.modules)

    @asynccontextmanager
    async def start(self) -> AsyncGenerator[Runtime]:
        """Run the lifespans of the modules around a body. An assembly starts once.

        Raises:
            AssemblyStarted: It was started before, even if that failed.
            Exception: What the body raised, or a lifespan as it was entered.
            ExceptionGroup: That error, if any, and the errors of lifespans that did not close well.
        """
        if self._started:
            raise AssemblyStarted(
                "this assembly was started before",
                fix="build another application: its modules hold what the first start left behind",
            )
        self._started = True
        async with living(self.modules):
            yield Runtime(self)

    def _find(self, slot: AnySlot) -> FilledSlot | None:
        if not isinstance(slot, Slot):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped code
            raise TypeError(f"look into an assembly with a slot, not with {slot!r}")
        filled = self._wiring.filled.get(slot.id)
        if filled is not None and not slot.is_same(filled.slot):
            raise TypeError(f"{slot.describe()} is not {filled.slot.describe()}, as built")
        return filled

    def _read(self, slot: AnySlot, filled: FilledSlot | None) -> Any:
        return read(slot, None, {}) if filled is None else self._values[filled.slot]

    def _empty(self, slot: AnySlot) -> SlotEmpty:
        names = near(slot.id, self._wiring.filled)
        return SlotEmpty(
            f"nothing fills slot {slot.id!r}{did_you_mean(names)}",
            fix="use assembly.get(SLOT), which gives None, or require the slot when building",
            slot=slot.id,
            near=names,
        )
