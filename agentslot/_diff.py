"""What differs between two assemblies."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentslot._assembly import Assembly

if TYPE_CHECKING:  # pydantic is needed for descriptions only
    from agentslot._description import (
        AssemblyDescription,
        ContributionDescription,
        RequirementDescription,
    )


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. What was added has no `before`, what was removed has no `after`."""

    subject: str
    """What it is about, such as `slot 'example.tool' key 'shell'`."""
    before: str | None
    after: str | None

    def __str__(self) -> str:
        """One line: what a terminal would obey in an id, such as a line end, is escaped."""
        if self.before is None:
            line = f"+ {self.subject}: {self.after}"
        elif self.after is None:
            line = f"- {self.subject}: {self.before}"
        else:
            line = f"~ {self.subject}: {self.before} → {self.after}"
        return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)


@dataclass(frozen=True, slots=True)
class AssemblyDiff:
    """All differences; false if there are none, and then the fingerprints are equal."""

    changes: tuple[Change, ...]

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __str__(self) -> str:
        return "\n".join(str(change) for change in self.changes) or "no difference"


def diff(
    before: "Assembly | AssemblyDescription", after: "Assembly | AssemblyDescription"
) -> AssemblyDiff:
    """Compare two assemblies, or their descriptions. Values are not looked at."""
    old, new = dict(_facts(_described(before))), dict(_facts(_described(after)))
    changes = (
        Change(subject, old.get(subject), new.get(subject))
        for subject in dict.fromkeys((*old, *new))
        if old.get(subject) != new.get(subject)
    )
    return AssemblyDiff(tuple(changes))


def _described(assembly: "Assembly | AssemblyDescription") -> "AssemblyDescription":
    return assembly.describe() if isinstance(assembly, Assembly) else assembly


def _facts(description: "AssemblyDescription") -> Iterator[tuple[str, str]]:
    """Say everything that a description says as pairs of a subject and a fact about it."""
    yield "start order", ", ".join(module.id for module in description.modules)
    for module in description.modules:
        yield f"module {module.id!r}", f"requires {_requirements(module.requires)}"
    for slot in description.slots:
        yield f"slot {slot.id!r}", f"{slot.kind} of {slot.value_type}"
        yield f"slot {slot.id!r} holds", ", ".join(map(_contribution, slot.contributions))
    if description.profile:
        yield "profile", f"requires {_requirements(description.profile)}"


def _requirements(requirements: "Iterable[RequirementDescription]") -> str:
    return ", ".join(map(_requirement, requirements)) or "nothing"


def _requirement(requirement: "RequirementDescription") -> str:
    if requirement.key is not None:
        return f"{requirement.slot}[{requirement.key!r}]"
    need = "optional" if requirement.optional else f"at least {requirement.minimum}"
    return f"{requirement.slot} ({requirement.kind}, {need})"


def _contribution(contribution: "ContributionDescription") -> str:
    key = "" if contribution.key is None else f"{contribution.key!r} "
    replaces = ", replacing a default" if contribution.replaces_default else ""
    return f"{key}from {contribution.module} ({contribution.source}{replaces})"
