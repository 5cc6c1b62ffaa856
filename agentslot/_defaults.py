"""Which contributions are in force: decided from the whole list of modules, never by their order.

An explicit value replaces defaults: in a One slot, under each key of a Many slot, and for a Chain
the whole default chain. Without an explicit value one default stands; two are ambiguous.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse

from agentslot._declaration import AnySlot
from agentslot._errors import CompositionError, DuplicateKey, SlotOccupied, UnusedOverride
from agentslot._module import Module
from agentslot._registry import Entry
from agentslot._text import did_you_mean, near

_NO_KEYS: Mapping[str | None, Entry] = {}


@dataclass(slots=True)
class FilledSlot:
    """A slot after its defaults are resolved; nothing changes it later."""

    slot: AnySlot
    entries: Sequence[Entry]
    """What is in force, in registration order."""
    replaced: Sequence[Entry]
    """Defaults that an explicit value replaced."""
    owners: Sequence[int]
    """The modules behind the entries in force, each once."""
    keys: Mapping[str | None, Entry]
    """What is in force by key, in a Many slot; empty for the other kinds."""


def fill(entries: Sequence[Entry]) -> FilledSlot:
    """Resolve the defaults of one slot; where they are ambiguous, all of them stay.

    Args:
        entries: All contributions to it, at least one, in registration order.
    """
    slot = entries[0].contribution.slot
    explicit = {each.contribution.key for each in entries if not each.contribution.default}

    def is_replaced(entry: Entry) -> bool:
        return entry.contribution.default and entry.contribution.key in explicit

    replaced = tuple(filter(is_replaced, entries))
    if replaced:
        entries = tuple(filterfalse(is_replaced, entries))
    owners = tuple(dict.fromkeys([each.owner for each in entries]))
    keys = {each.contribution.key: each for each in entries} if slot.kind == "many" else _NO_KEYS
    return FilledSlot(slot, entries, replaced, owners, keys)


def ambiguities(filled: FilledSlot, modules: Sequence[Module]) -> list[CompositionError]:
    """Return an error for a One slot, and for each key of a Many slot, with several defaults."""
    if filled.slot.kind == "chain":
        return []
    by_key: dict[str | None, list[Entry]] = {}
    for entry in filled.entries:
        by_key.setdefault(entry.contribution.key, []).append(entry)
    return [
        _ambiguous(filled.slot, key, [modules[entry.owner] for entry in entries])
        for key, entries in by_key.items()
        if len(entries) > 1
    ]


def unused_override(
    entry: Entry, filled: Mapping[str, FilledSlot], modules: Sequence[Module]
) -> UnusedOverride | None:
    """Return an error for a contribution that is meant to replace a default and replaces none."""
    slot, key = entry.contribution.slot, entry.contribution.key
    if any(each.contribution.key == key for each in filled[slot.id].replaced):
        return None
    owner = modules[entry.owner]
    if key is None:
        names = near(slot.id, _with_defaults(filled.values()))
        what = f"slot {slot.id!r} has no default"
    else:
        names = near(key, _default_keys(filled[slot.id]))
        what = f"key {key!r} of slot {slot.id!r} has no default"
    return UnusedOverride(
        f"{what} that module {owner.id!r} could replace{did_you_mean(names)}",
        fix="install the module whose default is meant, or contribute without replacing_default()",
        slot=slot.id,
        key=key,
        module=owner.id,
        where=owner.where,
        near=names,
    )


def _with_defaults(filled: Iterable[FilledSlot]) -> list[str]:
    return [
        each.slot.id
        for each in filled
        if each.replaced or any(entry.contribution.default for entry in each.entries)
    ]


def _default_keys(filled: FilledSlot) -> set[str]:
    entries = (*filled.entries, *filled.replaced)
    return {str(each.contribution.key) for each in entries if each.contribution.default}


def _ambiguous(slot: AnySlot, key: str | None, owners: Sequence[Module]) -> CompositionError:
    names = " and ".join(f"module {owner.id!r}" for owner in owners)
    problem = f"has several defaults and no explicit value: {names}"
    if key is None:
        return SlotOccupied(
            f"slot {slot.id!r} {problem}",
            fix="set one explicitly, or install only one of the modules",
            slot=slot.id,
            module=owners[1].id,
            where=owners[1].where,
        )
    return DuplicateKey(
        f"key {key!r} of slot {slot.id!r} {problem}",
        fix="add one explicitly under this key, or install only one of the modules",
        slot=slot.id,
        key=key,
        module=owners[1].id,
        where=owners[1].where,
    )
