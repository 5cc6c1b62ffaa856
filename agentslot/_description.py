"""What an Assembly says of itself: a JSON-safe picture without values, configuration or secrets.

The objects are plain data: `Assembly.describe()` makes them, renderers draw them, `fingerprint`
hashes them and `agentslot.diff` compares them. In JSON, what is empty is left out.
"""

import hashlib
import json
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

SlotKind: TypeAlias = Literal["one", "many", "chain"]
Source: TypeAlias = Literal["explicit", "default"]


def _empty(value: object) -> bool:
    return not value


class _Description(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, validate_by_name=True, serialize_by_alias=True
    )


class RequirementDescription(_Description):
    """One requirement, of a module or of the profile."""

    slot: str
    kind: SlotKind
    key: str | None = Field(default=None, exclude_if=_empty)
    """The key asked for; only requirements made by `Many.key` have one."""
    minimum: int
    """How many contributions must be there; 0 when the requirement is optional."""
    optional: bool = Field(default=False, exclude_if=_empty)


class ContributionDescription(_Description):
    """One contribution that is in force: who made it, and whether it was a default."""

    module: str
    key: str | None = Field(default=None, exclude_if=_empty)
    """Its key in a Many slot; None in the other kinds."""
    source: Source
    replaces_default: bool = Field(default=False, exclude_if=_empty)
    """Whether it is declared to replace a default; every explicit one does, if there is one."""


class SlotDescription(_Description):
    """One filled slot, its contributions in the order in which the application sees them."""

    id: str
    kind: SlotKind
    value_type: str
    contributions: tuple[ContributionDescription, ...]


class ModuleDescription(_Description):
    """One active module."""

    id: str
    requires: tuple[RequirementDescription, ...] = Field(default=(), exclude_if=_empty)
    """Sorted by slot, kind, key and minimum."""


class AssemblyDescription(_Description):
    """The whole Assembly: equal assemblies have equal descriptions, and equal fingerprints."""

    schema_id: Literal["agentslot.assembly/v0"] = Field(
        default="agentslot.assembly/v0", alias="schema"
    )
    """Stands in JSON as `schema`."""
    modules: tuple[ModuleDescription, ...]
    """In the order in which they start; they stop in reverse."""
    slots: tuple[SlotDescription, ...]
    """Sorted by id."""
    profile: tuple[RequirementDescription, ...] = Field(default=(), exclude_if=_empty)
    """What the application itself demands, sorted like the requirements of a module."""

    def fingerprint(self) -> str:
        """Return `sha256:` and the hash of the canonical JSON: sorted members, no white space."""
        canonical = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"
