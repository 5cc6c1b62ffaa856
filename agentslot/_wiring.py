"""The plan of an application: what is in force, who needs whom, in which order; and what is wrong.

All problems are gathered before any constructor runs.
"""

from collections.abc import Iterable, Sequence, Set
from itertools import pairwise
from typing import cast

from agentslot._declaration import Requirement
from agentslot._defaults import FilledSlot, ambiguities, fill, unused_override
from agentslot._errors import (
    CompositionError,
    DependencyCycle,
    InvalidRequirement,
    RequirementUnsatisfied,
)
from agentslot._graph import circles, order
from agentslot._module import Module
from agentslot._registry import Registry
from agentslot._requirements import Requirements, providers, requirement_text
from agentslot._typecheck import value_text


class Wiring:
    """Works out the plan as far as it goes; look at `problems` before following it.

    Args:
        registry: The installed modules and all that they contributed.
        profile: What the application itself requires.
        doubtful: Slots that are known to lack something, so that a need for more is no news.
    """

    def __init__(
        self,
        registry: Registry,
        profile: Iterable[Requirement],
        doubtful: Set[str] = frozenset(),
    ) -> None:
        self.modules: Sequence[Module] = tuple(registry.modules)
        """All modules in installation order; every other number here is an index into it."""
        self.profile = tuple(profile)
        """What the application itself requires."""
        self.problems: list[Exception] = []
        """What is wrong, in the order in which one would look at it."""
        self.filled = {slot: fill(registry.slots[slot]) for slot in sorted(registry.slots)}
        """The filled slots, sorted by id."""
        self.active = _active(registry, self.filled)
        """The modules that take part, in installation order."""
        self.requires: dict[int, list[Requirement]] = {index: [] for index in self.active}
        """What each active module requires, as far as it is there."""
        self.dependencies: list[set[int]] = [set() for _ in self.modules]
        """For each module, those that must start before it."""
        self.order: list[int] = []
        """The active modules, each after those it depends on."""

        self._find_ambiguities()
        self._find_unused(registry, doubtful)
        self._connect(doubtful)
        self._sort()

    def _find_ambiguities(self) -> None:
        for filled in self.filled.values():
            if len(filled.entries) > 1:
                self.problems.extend(ambiguities(filled, self.modules))

    def _find_unused(self, registry: Registry, doubtful: Set[str]) -> None:
        for entry in registry.overrides:
            unused = unused_override(entry, self.filled, self.modules)
            if unused is not None and unused.slot not in doubtful:
                self.problems.append(unused)

    def _connect(self, doubtful: Set[str]) -> None:
        """Check all requirements, and note who depends on whom."""
        requirements = Requirements(self.filled, self.modules)

        def check(requirement: Requirement, module: Module | None) -> Sequence[int] | None:
            try:
                return requirements.check(requirement, module)
            except CompositionError as error:
                unknown = isinstance(error, RequirementUnsatisfied) and error.slot in doubtful
                if not unknown:
                    self.problems.append(error.with_traceback(None))
                return None

        for requirement in self.profile:
            check(requirement, None)
        for index in self.active:
            module = self.modules[index]
            satisfied, needed = self.requires[index], self.dependencies[index]
            for requirement in self._read_requires(module):
                found = check(requirement, module)
                if found is not None:
                    satisfied.append(requirement)
                    needed.update(found)
            needed.discard(index)

    def _read_requires(self, module: Module) -> Sequence[Requirement]:
        requires = cast("object", module.requires)  # whatever stands in the class
        if isinstance(requires, Iterable) and not isinstance(requires, str):
            return module.requires
        if isinstance(requires, Requirement):  # a forgotten comma
            found, slot = f"one requirement, {requirement_text(requires)}", requires.slot.id
        else:
            found, slot = value_text(requires), None
        self.problems.append(
            InvalidRequirement(
                f"`requires` is {found}, not several requirements",
                fix="write a tuple: `requires = (SLOT.required(),)`, with the comma",
                slot=slot,
                module=module.id,
                where=module.where,
            )
        )
        return ()

    def _sort(self) -> None:
        placed, blocked = order(self.dependencies)
        active = set(self.active)
        self.order = [index for index in placed if index in active]
        names = [self.modules[index].id for index in blocked]
        for circle in circles(self.dependencies, blocked):
            self.problems.append(self._cycle(circle, names))
        self._trace_paths()

    def _cycle(self, circle: list[int], blocked: Sequence[str]) -> DependencyCycle:
        closed = [*circle, circle[0]]
        path = [self.modules[index].id for index in closed]
        steps = [
            f"{self.modules[index].id} needs {self._link(index, provider)} of "
            f"{self.modules[provider].id}  ({self.modules[index].where()})"
            for index, provider in pairwise(closed)
        ]
        return DependencyCycle(
            f"modules need each other in a circle: {' → '.join(path)}",
            fix="split one of them, so that what the others need stands in a module of its own",
            path=path,
            steps=steps,
            blocked=blocked,
        )

    def _link(self, index: int, provider: int) -> str:
        """Return the requirement of one module that leads to another."""
        return next(
            requirement_text(requirement)
            for requirement in self.requires[index]
            if requirement.slot.id in self.filled
            and provider in providers(requirement, self.filled[requirement.slot.id])
        )

    def _trace_paths(self) -> None:
        """Tell each unsatisfied requirement how the application comes to need its module."""
        unsatisfied = [each for each in self.problems if isinstance(each, RequirementUnsatisfied)]
        if not unsatisfied:
            return
        user: dict[int, int] = {}  # who was the first to need a module
        for index in self.active:
            for needed in self.dependencies[index]:
                user.setdefault(needed, index)
        by_id = {module.id: index for index, module in enumerate(self.modules)}
        for error in unsatisfied:
            path: dict[int, None] = {}
            step = by_id.get(error.module or "")
            while step is not None and step not in path:
                path[step] = None
                step = user.get(step)
            error.path = tuple(self.modules[each].id for each in reversed(path))


def _active(registry: Registry, filled: dict[str, FilledSlot]) -> list[int]:
    """Leave out each module that contributed something, of which nothing is in force."""
    contributed = {entry.owner for entries in registry.slots.values() for entry in entries}
    in_force = {owner for each in filled.values() for owner in each.owners}
    replaced = contributed - in_force
    return [index for index in range(len(registry.modules)) if index not in replaced]
