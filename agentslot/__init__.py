"""AgentSlot: compose an application out of typed slots.

The public names of the composition core stand here; the standard agent lives in
`agentslot.standardagent` and the packages below it.
"""

import os as _os
import typing as _typing

# In a source checkout without symbolic links the sibling folders (../session, ../model, …) are
# sub-packages of agentslot all the same; in a wheel they already lie inside this folder.
if not _os.path.isdir(_os.path.join(__path__[0], "session")):
    __path__.append(_os.path.dirname(__path__[0]))

from agentslot._application import Application
from agentslot._assembly import Assembly, Runtime
from agentslot._builder import Builder
from agentslot._declaration import Contribution, Requirement, Slot
from agentslot._diff import AssemblyDiff, Change, diff
from agentslot._errors import (
    AgentSlotError,
    AssemblyStarted,
    BuilderFrozen,
    BuildFailed,
    CompositionError,
    DependencyCycle,
    DependencyNotReady,
    DependencyUndeclared,
    DuplicateKey,
    DuplicateModule,
    InvalidApplication,
    InvalidContribution,
    InvalidKey,
    InvalidModule,
    InvalidRequirement,
    RegistrationClosed,
    RequirementUnsatisfied,
    ResolverClosed,
    SlotConflict,
    SlotEmpty,
    SlotOccupied,
    UnusedOverride,
)
from agentslot._explanation import Explanation, Verdict
from agentslot._module import Module
from agentslot._registrar import Registrar
from agentslot._resolver import Resolver
from agentslot._slot import Chain, Many, One

if _typing.TYPE_CHECKING:
    from agentslot._description import (
        AssemblyDescription,
        ContributionDescription,
        ModuleDescription,
        RequirementDescription,
        SlotDescription,
    )

__all__ = [
    "AgentSlotError",
    "Application",
    "Assembly",
    "AssemblyDescription",
    "AssemblyDiff",
    "AssemblyStarted",
    "BuildFailed",
    "Builder",
    "BuilderFrozen",
    "Chain",
    "Change",
    "CompositionError",
    "Contribution",
    "ContributionDescription",
    "DependencyCycle",
    "DependencyNotReady",
    "DependencyUndeclared",
    "DuplicateKey",
    "DuplicateModule",
    "Explanation",
    "InvalidApplication",
    "InvalidContribution",
    "InvalidKey",
    "InvalidModule",
    "InvalidRequirement",
    "Many",
    "Module",
    "ModuleDescription",
    "One",
    "Registrar",
    "RegistrationClosed",
    "Requirement",
    "RequirementDescription",
    "RequirementUnsatisfied",
    "Resolver",
    "ResolverClosed",
    "Runtime",
    "Slot",
    "SlotConflict",
    "SlotDescription",
    "SlotEmpty",
    "SlotOccupied",
    "UnusedOverride",
    "Verdict",
    "diff",
]


# Errors and reprs name what users import, not the private module it stands in.
for _name in __all__:
    _public = globals().get(_name)
    if isinstance(_public, type):
        _public.__module__ = __name__


def __getattr__(name: str) -> object:
    # Descriptions bring pydantic, which is more than half of what importing this package takes.
    if name.endswith("Description") and name in __all__:
        from agentslot import _description

        return globals().setdefault(name, getattr(_description, name))
    raise AttributeError(f"module 'agentslot' has no attribute {name!r}")
