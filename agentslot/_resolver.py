"""What a constructor sees of the application."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar, overload

from agentslot._declaration import AnySlot, Contribution, Requirement, Slot
from agentslot._defaults import FilledSlot
from agentslot._errors import (
    DependencyNotReady,
    DependencyUndeclared,
    RequirementUnsatisfied,
    ResolverClosed,
)
from agentslot._module import Module
from agentslot._registry import Entry
from agentslot._requirements import requirement_text
from agentslot._slot import Chain, Many, One
from agentslot._text import did_you_mean, near

T = TypeVar("T")


class Resolver:
    """Gives one constructor the values of the slots that its module requires, and nothing else.

    `resolver[SLOT]` is the value of a One slot, a read-only mapping for a Many slot, a tuple for a
    Chain. To require one key allows `resolver.key(SLOT, key)`; to require the slot allows
    `resolver[SLOT]`; neither allows the other. When the constructor returns, the resolver closes.
    """

    __slots__ = ("_closed", "_filled", "_module", "_purpose", "_requires", "_values")

    def __init__(
        self,
        purpose: Contribution,
        module: Module,
        requires: Sequence[Requirement],
        filled: Mapping[str, FilledSlot],
        values: Mapping[int, Any],
    ) -> None:
        """Open a resolver; only a build does.

        Args:
            purpose: The contribution whose constructor is about to run.
            module: Who contributes it.
            requires: What that module requires.
            filled: The filled slots by id.
            values: The values that are ready, by the ordinal of their entry.
        """
        self._purpose = purpose
        self._module = module
        self._requires = requires
        self._filled = filled
        self._values = values
        self._closed = False

    @overload
    def __getitem__(self, slot: One[T]) -> T: ...
    @overload
    def __getitem__(self, slot: Many[T]) -> Mapping[str, T]: ...
    @overload
    def __getitem__(self, slot: Chain[T]) -> tuple[T, ...]: ...
    def __getitem__(self, slot: AnySlot) -> Any:
        """Return what is in a slot.

        Raises:
            DependencyUndeclared: The module does not require this slot.
            DependencyNotReady: A value in it is constructed after this one.
            RequirementUnsatisfied: It is an optional One slot, and empty.
            ResolverClosed: The constructor has returned.
        """
        requirement = self._declared(slot, None, keyed=False)
        filled = self._filled.get(slot.id)
        if filled is None and slot.kind == "one":
            raise self._empty(requirement)
        return self._read(slot, filled)

    @overload
    def get(self, slot: One[T]) -> T | None: ...
    @overload
    def get(self, slot: Many[T]) -> Mapping[str, T]: ...
    @overload
    def get(self, slot: Chain[T]) -> tuple[T, ...]: ...
    def get(self, slot: AnySlot) -> Any:
        """Return what is in a slot; None for a One slot that is optional and empty.

        Raises:
            DependencyUndeclared: The module does not require this slot.
            DependencyNotReady: A value in it is constructed after this one.
            ResolverClosed: The constructor has returned.
        """
        self._declared(slot, None, keyed=False)
        return self._read(slot, self._filled.get(slot.id))

    def key(self, slot: Many[T], key: str) -> T:
        """Return the value under one key of a Many slot.

        Raises:
            DependencyUndeclared: The module does not require this very key.
            DependencyNotReady: The value is constructed after this one.
            ResolverClosed: The constructor has returned.
        """
        self._declared(slot, key, keyed=True)
        entry = self._filled[slot.id].keys[key]
        if entry.ordinal not in self._values:
            raise self._not_ready(entry)
        value: T = self._values[entry.ordinal]
        return value

    def close(self) -> None:
        """Refuse everything from now on."""
        self._closed = True

    def _declared(self, slot: AnySlot, key: str | None, *, keyed: bool) -> Requirement:
        if not isinstance(slot, Slot):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped code
            raise TypeError(f"ask a resolver with a slot, not with {slot!r}")
        if self._closed:
            raise ResolverClosed(
                f"a resolver was asked for slot {slot.id!r} after its constructor had returned",
                fix="read what is needed inside the constructor, and keep that",
                slot=slot.id,
                key=key,
                module=self._module.id,
                where=self._module.where,
            )
        for each in self._requires:
            if each.keyed == keyed and each.key == key and each.slot.is_same(slot):
                return each
        raise self._undeclared(Requirement(slot, 1, key, keyed=keyed))

    def _read(self, slot: AnySlot, filled: FilledSlot | None) -> Any:
        if filled is not None:
            for entry in filled.entries:
                if entry.ordinal not in self._values:
                    raise self._not_ready(entry)
        return read(slot, filled, self._values)

    def _undeclared(self, wanted: Requirement) -> DependencyUndeclared:
        names = near(wanted.slot.id, (each.slot.id for each in self._requires))
        text = requirement_text(wanted)
        return DependencyUndeclared(
            f"{self._constructor()} asked for what its module does not require: {text}"
            f"{did_you_mean(name for name in names if name != wanted.slot.id)}",
            fix=f"add {text} to `requires` of the module",
            slot=wanted.slot.id,
            key=wanted.key,
            module=self._module.id,
            where=self._module.where,
            near=names,
        )

    def _not_ready(self, entry: Entry) -> DependencyNotReady:
        slot, key = entry.contribution.slot.id, entry.contribution.key
        which = f"slot {slot!r}" if key is None else f"key {key!r} of slot {slot!r}"
        if entry.contribution is self._purpose:
            when, fix = "holds what it is about to make", "make the value of other slots"
        else:
            when = "is constructed after it"
            fix = "contribute the other value first, or in a module of its own"
        return DependencyNotReady(
            f"{self._constructor()} asked for {which}, which {when}",
            fix=fix,
            slot=slot,
            key=key,
            module=self._module.id,
            where=self._module.where,
        )

    def _empty(self, requirement: Requirement) -> RequirementUnsatisfied:
        return RequirementUnsatisfied(
            f"{self._constructor()} asked for slot {requirement.slot.id!r}, and nobody fills it",
            fix="use resolver.get(SLOT), which gives None, or require the slot",
            required=requirement_text(requirement),
            minimum=requirement.minimum,
            actual=0,
            slot=requirement.slot.id,
            module=self._module.id,
            where=self._module.where,
        )

    def _constructor(self) -> str:
        return f"the constructor for slot {self._purpose.slot.id!r}"


def read(slot: AnySlot, filled: FilledSlot | None, values: Mapping[int, Any]) -> Any:
    """Return what a slot holds, in the shape of its kind.

    Args:
        slot: The slot.
        filled: Its contributions; None if there are none.
        values: Their values, by ordinal.
    """
    entries = () if filled is None else filled.entries
    if slot.kind == "one":
        return values[entries[0].ordinal] if entries else None
    if slot.kind == "many":
        found = {entry.contribution.key: values[entry.ordinal] for entry in entries}
        return MappingProxyType(found)
    return tuple(values[entry.ordinal] for entry in entries)
