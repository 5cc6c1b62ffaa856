"""Turning a plan into its description."""

from collections.abc import Iterable

from agentslot._declaration import Requirement
from agentslot._defaults import FilledSlot
from agentslot._description import (
    AssemblyDescription,
    ContributionDescription,
    ModuleDescription,
    RequirementDescription,
    SlotDescription,
)
from agentslot._types import type_text
from agentslot._wiring import Wiring


def describe(wiring: Wiring) -> AssemblyDescription:
    """Describe a plan that has no problems."""
    modules = (
        ModuleDescription(
            id=wiring.modules[index].id, requires=_requirements(wiring.requires[index])
        )
        for index in wiring.order
    )
    return AssemblyDescription(
        modules=tuple(modules),
        slots=tuple(_slot(filled, wiring) for filled in wiring.filled.values()),
        profile=_requirements(wiring.profile),
    )


def _slot(filled: FilledSlot, wiring: Wiring) -> SlotDescription:
    contributions = (
        ContributionDescription(
            module=wiring.modules[entry.owner].id,
            key=entry.contribution.key,
            source="default" if entry.contribution.default else "explicit",
            replaces_default=entry.contribution.overrides,
        )
        for entry in filled.entries
    )
    return SlotDescription(
        id=filled.slot.id,
        kind=filled.slot.kind,
        value_type=type_text(filled.slot.value_type),
        contributions=tuple(contributions),
    )


def _requirements(requirements: Iterable[Requirement]) -> tuple[RequirementDescription, ...]:
    described = (
        RequirementDescription(
            slot=each.slot.id,
            kind=each.slot.kind,
            key=each.key,
            minimum=each.minimum,
            optional=each.optional,
        )
        for each in requirements
    )
    return tuple(sorted(described, key=lambda d: (d.slot, d.kind, d.key or "", d.minimum)))
