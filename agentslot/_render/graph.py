"""The neutral picture of an Assembly: modules and slots as nodes, fills and needs as edges."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agentslot._description import AssemblyDescription, RequirementDescription, SlotDescription


class Relation(StrEnum):
    """What an edge says: a contribution runs from module to slot, a requirement back."""

    EXPLICIT = "explicit"
    DEFAULT = "default"
    REQUIRED = "required"
    OPTIONAL = "optional"

    @property
    def is_contribution(self) -> bool:
        """Whether the edge starts at a module and ends at a slot."""
        return self in {Relation.EXPLICIT, Relation.DEFAULT}


@dataclass(frozen=True, slots=True)
class ModuleNode:
    """An active module. `order` counts from 1, in the order in which modules start."""

    name: str
    id: str
    order: int


@dataclass(frozen=True, slots=True)
class SlotNode:
    """A filled slot: `count` contributions; `in_profile` when the profile demands it."""

    name: str
    id: str
    kind: str
    value_type: str
    count: int
    in_profile: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """One line of the picture, between node names; `keys` are the Many keys that it stands for."""

    source: str
    target: str
    relation: Relation
    keys: tuple[str, ...] = ()

    @property
    def slot(self) -> str:
        """Name of the slot at one of the two ends."""
        return self.target if self.relation.is_contribution else self.source

    @property
    def module(self) -> str:
        """Name of the module at the other end."""
        return self.source if self.relation.is_contribution else self.target


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and edges in the order of the description, contributions before requirements.

    Names (`m0`, `s0`, …) are positions in the description: safe in every output format, whatever
    the identifiers contain.
    """

    modules: tuple[ModuleNode, ...]
    slots: tuple[SlotNode, ...]
    edges: tuple[Edge, ...]
    providers: Mapping[str, frozenset[str]] = field(repr=False)
    """For each module name, the modules that must start before it."""

    @property
    def nodes(self) -> tuple[ModuleNode | SlotNode, ...]:
        """All modules, then all slots."""
        return (*self.modules, *self.slots)


def graph_of(description: AssemblyDescription) -> Graph:
    """Draw the graph of a description. A requirement of a slot that nobody fills has no edge."""
    module_names = {module.id: f"m{index}" for index, module in enumerate(description.modules)}
    slots = {slot.id: (f"s{index}", slot) for index, slot in enumerate(description.slots)}
    in_profile = {requirement.slot for requirement in description.profile}
    keys: dict[tuple[str, str, Relation], list[str]] = {}
    providers: dict[str, frozenset[str]] = {}

    for name, slot in slots.values():
        for contribution in slot.contributions:
            edge = (module_names[contribution.module], name, Relation(contribution.source))
            keys.setdefault(edge, []).extend([contribution.key] if contribution.key else [])

    for module in description.modules:
        name = module_names[module.id]
        needed: set[str] = set()
        for requirement in module.requires:
            if requirement.slot not in slots:
                continue
            slot_name, slot = slots[requirement.slot]
            relation = Relation.OPTIONAL if requirement.optional else Relation.REQUIRED
            keys.setdefault((slot_name, name, relation), []).extend(
                [requirement.key] if requirement.key else []
            )
            needed |= {module_names[owner] for owner in _owners(slot, requirement)}
        providers[name] = frozenset(needed - {name})

    return Graph(
        modules=tuple(
            ModuleNode(module_names[module.id], module.id, order)
            for order, module in enumerate(description.modules, start=1)
        ),
        slots=tuple(
            SlotNode(
                name,
                slot.id,
                slot.kind,
                slot.value_type,
                len(slot.contributions),
                slot.id in in_profile,
            )
            for name, slot in slots.values()
        ),
        edges=tuple(Edge(*edge, tuple(found)) for edge, found in keys.items()),
        providers=providers,
    )


def _owners(slot: SlotDescription, requirement: RequirementDescription) -> set[str]:
    """Modules that a requirement depends on: the owner of its key, or all contributors."""
    return {
        contribution.module
        for contribution in slot.contributions
        if not requirement.key or contribution.key == requirement.key
    }
