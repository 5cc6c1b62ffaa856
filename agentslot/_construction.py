"""Running constructors: each module after those it depends on, its own in registration order."""

from collections.abc import Mapping
from typing import Any

from agentslot._admission import check_constructed, check_takes_resolver
from agentslot._declaration import ABSENT
from agentslot._errors import CompositionError
from agentslot._registry import Entry
from agentslot._resolver import Resolver
from agentslot._wiring import Wiring


def construct(wiring: Wiring) -> tuple[Mapping[int, Any], list[Exception]]:
    """Make every value of a plan that has no problems.

    Where a constructor fails, those that depend on its module are left out and the others still
    run, so that one build shows all that is wrong.

    Returns:
        The values by the ordinal of their entry, and what went wrong.
    """
    values: dict[int, Any] = {}
    to_construct: dict[int, list[Entry]] = {}
    for filled in wiring.filled.values():
        for entry in filled.entries:
            if entry.contribution.value is ABSENT:
                to_construct.setdefault(entry.owner, []).append(entry)
            else:
                values[entry.ordinal] = entry.contribution.value

    problems: list[Exception] = []
    failed: set[int] = set()
    for index in wiring.order:
        if not failed.isdisjoint(wiring.dependencies[index]):
            failed.add(index)
            continue
        entries = sorted(to_construct.get(index, ()), key=lambda entry: entry.ordinal)
        try:
            for entry in entries:
                values[entry.ordinal] = _construct_one(entry, index, wiring, values)
        except Exception as error:  # noqa: BLE001  # a constructor may raise anything; it is reported
            problems.append(error)
            failed.add(index)
    return values, problems


def _construct_one(entry: Entry, index: int, wiring: Wiring, values: Mapping[int, Any]) -> object:
    contribution, module = entry.contribution, wiring.modules[index]
    assert contribution.constructor is not None
    resolver = Resolver(contribution, module, wiring.requires[index], wiring.filled, values)
    try:
        value = contribution.constructor(resolver)
    except CompositionError:  # of the resolver, which names the constructor itself
        raise
    except Exception as error:
        check_takes_resolver(contribution, module)
        slot = contribution.slot.id
        error.add_note(f"raised by the constructor for slot {slot!r} of module {module.id!r}")
        raise
    finally:
        resolver.close()
    check_constructed(contribution, value, module)
    return value
