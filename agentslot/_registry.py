"""What modules have contributed so far. A module enters whole or not at all."""

from dataclasses import dataclass

from agentslot._admission import check_same_slot, check_shape, check_type
from agentslot._declaration import Contribution
from agentslot._errors import DuplicateKey, DuplicateModule, SlotOccupied
from agentslot._module import Module
from agentslot._registrar import Registration, check_module


@dataclass(slots=True, eq=False)
class Entry:
    """One accepted contribution."""

    contribution: Contribution
    owner: int
    """Index of its module in the order of installation."""
    ordinal: int
    """Its place among all contributions, in the order in which they were made."""


class Registry:
    """Modules and their contributions, in the order of installation.

    Nothing is copied for a transaction: the log of accepted entries is walked back instead, so a
    registration costs what it adds.
    """

    def __init__(self) -> None:
        self.modules: list[Module] = []
        self.slots: dict[str, list[Entry]] = {}
        """All contributions by slot id, explicit ones and defaults; no list is empty."""
        self.overrides: list[Entry] = []
        """Those that are meant to replace a default."""
        self.doubtful: set[str] = set()
        """Slots that a refused module spoke of: what they lack may be that module's part."""
        self._index: dict[str, int] = {}
        self._log: list[Entry] = []
        self._explicit: dict[tuple[str, str | None], Entry] = {}
        """Explicit entries by slot and key, where a second one would be an error."""

    def install(self, module: Module) -> None:
        """Register a module and take what it contributes; if anything fails, take nothing.

        Raises:
            InvalidModule: It is no module, or its id or one of its methods is not usable.
            DuplicateModule: A module with this id is installed.
            CompositionError: A contribution was refused.
            Exception: Whatever else its `register` raises, with a note that names the module.
        """
        check_module(module)
        if module.id in self._index:
            raise self._duplicate(module)
        mark = len(self._log)
        registration = Registration(module, self._accept)
        try:
            registration.run()
        except BaseException:
            self.doubtful.update(registration.attempted_slots())
            self._undo(mark)
            raise
        self._index[module.id] = len(self.modules)
        self.modules.append(module)

    def truncate(self, count: int) -> None:
        """Take out every module after the first `count`, with what it contributed."""
        for module in self.modules[count:]:
            del self._index[module.id]
        del self.modules[count:]
        mark = len(self._log)
        while mark and self._log[mark - 1].owner >= count:
            mark -= 1
        self._undo(mark)

    def _accept(self, contribution: Contribution, module: Module) -> None:
        check_shape(contribution, module)
        slot, key = contribution.slot, contribution.key
        known = self.slots.get(slot.id)
        if known is not None:
            check_same_slot(slot, known[0].contribution.slot, module)
        check_type(contribution, module)
        entry = Entry(contribution, len(self.modules), len(self._log))
        if not contribution.default and slot.kind != "chain":
            first = self._explicit.setdefault((slot.id, key), entry)
            if first is not entry:
                raise self._occupied(first, contribution, module)
        if known is None:
            self.slots[slot.id] = [entry]
        else:
            known.append(entry)
        self._log.append(entry)
        if contribution.overrides:
            self.overrides.append(entry)

    def _undo(self, mark: int) -> None:
        while len(self._log) > mark:
            entry = self._log.pop()
            contribution = entry.contribution
            place = contribution.slot.id, contribution.key
            if self._explicit.get(place) is entry:
                del self._explicit[place]
            if contribution.overrides:
                self.overrides.pop()
            known = self.slots[contribution.slot.id]
            known.pop()
            if not known:
                del self.slots[contribution.slot.id]

    def _duplicate(self, module: Module) -> DuplicateModule:
        first = self.modules[self._index[module.id]]
        same = "the same object" if first is module else f"the other is at {first.where()}"
        return DuplicateModule(
            f"two modules have the id {module.id!r}; {same}",
            fix="install the module once, or give one of the two another id",
            module=module.id,
            where=module.where,
        )

    def _occupied(
        self, first: Entry, contribution: Contribution, module: Module
    ) -> SlotOccupied | DuplicateKey:
        owner = first.owner
        other = (
            "the same module"
            if owner == len(self.modules)
            else f"module {self.modules[owner].id!r}"
        )
        slot, key = contribution.slot.id, contribution.key
        if key is None:
            return SlotOccupied(
                f"slot {slot!r} is filled twice; {other} filled it first",
                fix="keep one of the two, or make one a default with `set_default`",
                slot=slot,
                module=module.id,
                where=module.where,
            )
        return DuplicateKey(
            f"slot {slot!r} has two values for key {key!r}; {other} added the first",
            fix="use another key, keep one of the two, or make one a default with `add_default`",
            slot=slot,
            key=key,
            module=module.id,
            where=module.where,
        )
