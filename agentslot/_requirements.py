"""Whether a requirement makes sense, and whether the slots of an application satisfy it."""

from collections.abc import Iterable, Mapping, Sequence

from agentslot._admission import check_same_slot
from agentslot._declaration import AnySlot, Requirement
from agentslot._defaults import FilledSlot
from agentslot._errors import InvalidRequirement, RequirementUnsatisfied
from agentslot._module import Module
from agentslot._registry import Entry
from agentslot._text import did_you_mean, is_name, near
from agentslot._typecheck import value_text
from agentslot._types import origin_of, type_text

_MAX_SEARCHES = 50
"""For how many missing names of one build something similar is looked for."""


class Requirements:
    """Checks requirements against the filled slots of one build.

    Args:
        filled: The slots by id, with their defaults resolved.
        modules: All modules, in the order in which entries name their owners.
    """

    def __init__(self, filled: Mapping[str, FilledSlot], modules: Sequence[Module]) -> None:
        self._filled = filled
        self._modules = modules
        self._near: dict[str, tuple[str, ...]] = {}
        self._searches = 0

    def check(self, requirement: object, module: Module | None) -> Sequence[int]:
        """Return the modules that provide what is required; none for an optional, empty slot.

        Args:
            requirement: What somebody listed among their requirements.
            module: Who did; None for the application itself.

        Raises:
            InvalidRequirement: It makes no sense.
            SlotConflict: It means another slot than the one that is filled under this id.
            RequirementUnsatisfied: There is too little, or the key is missing.
        """
        valid = _check_form(requirement, module)
        filled = self._filled.get(valid.slot.id)
        if filled is None:
            if valid.optional:
                return ()
            raise self._unsatisfied(valid, None, module)
        check_same_slot(valid.slot, filled.slot, module)
        found = providers(valid, filled)
        if not found or len(filled.entries) < valid.minimum:
            raise self._unsatisfied(valid, filled, module)
        return found

    def _unsatisfied(
        self, requirement: Requirement, filled: FilledSlot | None, module: Module | None
    ) -> RequirementUnsatisfied:
        slot, key = requirement.slot, requirement.key
        entries = () if filled is None else filled.entries
        if filled is None:
            names = self._near_slots(slot)
            similar = near(slot.id, names)
            what = f"no slot {slot.id!r}{did_you_mean(similar)}"
            adds = f"adds key {key!r} to" if requirement.keyed else "fills"
            such = f", such as {slot.filled_by}" if slot.filled_by else ""
            fix = f"install a module that {adds} slot {slot.id!r}{such}{self._or_replace(module)}"
            there = [self._slot_line(self._filled[name]) for name in names]
        elif requirement.keyed:
            names = self._similar(str(key), (str(entry.contribution.key) for entry in entries))
            what = f"slot {slot.id!r} has no key {key!r}{did_you_mean(names)}"
            fix = f"install a module that adds key {key!r}, or ask for a key that is there"
            there = [self._entry_line(entry) for entry in entries]
        else:
            names = ()
            what = f"slot {slot.id!r} has {len(entries)} of at least {requirement.minimum} values"
            fix = "install modules that contribute the rest, or ask for fewer"
            there = [self._entry_line(entry) for entry in entries]
        return RequirementUnsatisfied(
            what,
            fix=fix,
            required=requirement_text(requirement),
            minimum=requirement.minimum,
            actual=0 if requirement.keyed else len(entries),
            providers=there,
            slot=slot.id,
            key=key,
            module=None if module is None else module.id,
            where=None if module is None else module.where,
            near=names,
        )

    def _or_replace(self, module: Module | None) -> str:
        """Return the other way out of what only defaults need: to contribute in their place."""
        made = [
            (filled.slot.id, entry.contribution.default)
            for filled in self._filled.values()
            for entry in filled.entries
            if self._modules[entry.owner] is module
        ]
        if module is None or not made or not all(default for _, default in made):
            return ""
        slots = " and ".join(repr(slot) for slot, _ in made)
        return f", or fill {slots}, of which {module.id!r} is only the default"

    def _near_slots(self, slot: AnySlot) -> tuple[str, ...]:
        """Return slots with a similar id, then slots with the same type or another parameter."""
        if slot.id not in self._near:  # a missing slot is often missed by many
            similar = self._similar(slot.id, self._filled)
            related = [i for i, each in self._filled.items() if _related(slot, each.slot)]
            self._near[slot.id] = tuple(dict.fromkeys((*similar, *related[:3])))
        return self._near[slot.id]

    def _similar(self, name: str, names: Iterable[str]) -> tuple[str, ...]:
        # Comparing every name with every other takes long, and a list of problems is read from
        # the top.
        self._searches += 1
        return near(name, names) if self._searches <= _MAX_SEARCHES else ()

    def _slot_line(self, filled: FilledSlot) -> str:
        owners = ", ".join(repr(self._modules[owner].id) for owner in filled.owners)
        return f"slot {filled.slot.id!r} of {type_text(filled.slot.value_type)}, from {owners}"

    def _entry_line(self, entry: Entry) -> str:
        key = entry.contribution.key
        what = "a value" if key is None else f"key {key!r}"
        return f"{what} from {self._modules[entry.owner].id!r}"


def providers(requirement: Requirement, filled: FilledSlot) -> Sequence[int]:
    """Return the modules behind a filled slot, or behind the one key that is required."""
    if not requirement.keyed:
        return filled.owners
    entry = filled.keys.get(requirement.key)
    return () if entry is None else (entry.owner,)


def requirement_text(requirement: Requirement) -> str:
    """Return a requirement as one writes it, with the type of its slot."""
    slot = requirement.slot
    head = f"{type(slot).__name__}[{type_text(slot.value_type)}]({slot.id!r})"
    if requirement.keyed:
        return f"{head}.key({requirement.key!r})"
    if requirement.optional:
        return f"{head}.optional()"
    return f"{head}.required()" if slot.kind == "one" else f"{head}.at_least({requirement.minimum})"


def _related(slot: AnySlot, other: AnySlot) -> bool:
    mine, theirs = slot.value_type, other.value_type
    return bool(mine == theirs) or (
        origin_of(mine) is not None and origin_of(mine) is origin_of(theirs)
    )


def _check_form(requirement: object, module: Module | None) -> Requirement:
    if not isinstance(requirement, Requirement):
        raise _invalid(
            f"an object of type {value_text(requirement)} is no requirement",
            "require what a slot makes, such as SLOT.required() or SLOT.at_least(1)",
            module,
        )
    slot = requirement.slot
    try:
        _ = slot.value_type
    except TypeError as error:
        fix = "declare the slot with a complete type"
        raise _invalid(str(error), fix, module, slot.id) from None
    if requirement.keyed and not is_name(requirement.key):
        what = f"slot {slot.id!r} is asked for key {requirement.key!r}"
        raise _invalid(what, "ask for a key that is text without space around it", module, slot.id)
    if not requirement.optional and not _is_count(requirement.minimum):
        what = f"slot {slot.id!r} is asked for at least {requirement.minimum!r} values"
        raise _invalid(what, "ask for a whole number from 1 on, or use optional()", module, slot.id)
    return requirement


def _is_count(minimum: object) -> bool:
    return isinstance(minimum, int) and not isinstance(minimum, bool) and minimum >= 1


def _invalid(
    what: str, fix: str, module: Module | None, slot: str | None = None
) -> InvalidRequirement:
    return InvalidRequirement(
        what,
        fix=fix,
        slot=slot,
        module=None if module is None else module.id,
        where=None if module is None else module.where,
    )
