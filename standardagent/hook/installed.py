"""Hooks as an application has them: each descriptor and scope read once, when it is built."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from agentslot import BuildFailed, Chain, Resolver
from agentslot.session import ExtensionDescriptor
from agentslot.standardagent.hook.agenthook import AGENT_HOOKS, AgentHook
from agentslot.standardagent.hook.completiongate import COMPLETION_GATES, CompletionGate
from agentslot.standardagent.hook.errors import InvalidHook
from agentslot.standardagent.hook.inputgate import INPUT_GATES, InputGate
from agentslot.standardagent.hook.scope import ToolResultScope, ToolScope
from agentslot.standardagent.hook.sessionlifecycle import (
    SESSION_LIFECYCLES,
    LifecycleScope,
    SessionLifecycle,
)
from agentslot.standardagent.hook.toolpreflight import TOOL_PREFLIGHTS, ToolPreflight
from agentslot.standardagent.hook.toolresult import TOOL_RESULT_HOOKS, ToolResultHook

H = TypeVar("H")
S = TypeVar("S")


class _Described(Protocol):
    def descriptor(self) -> ExtensionDescriptor: ...


D = TypeVar("D", bound=_Described)


@dataclass(frozen=True, slots=True)
class Link(Generic[H, S]):
    """One component of a chain, and what it said of itself when the application was built."""

    descriptor: ExtensionDescriptor
    scope: S
    component: H


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of an application, each chain in its order."""

    input_gates: tuple[Link[InputGate, None], ...] = ()
    tool_preflights: tuple[Link[ToolPreflight, ToolScope], ...] = ()
    tool_results: tuple[Link[ToolResultHook, ToolResultScope], ...] = ()
    completion_gates: tuple[Link[CompletionGate, None], ...] = ()
    lifecycles: tuple[Link[SessionLifecycle, LifecycleScope], ...] = ()
    agent_hooks: tuple[AgentHook, ...] = ()


HOOK_SLOTS = (
    INPUT_GATES,
    TOOL_PREFLIGHTS,
    TOOL_RESULT_HOOKS,
    COMPLETION_GATES,
    SESSION_LIFECYCLES,
    AGENT_HOOKS,
)


def install_hooks(resolver: Resolver) -> Hooks:
    """Read all hooks of an assembly.

    Raises:
        InvalidHook: one of them is not usable.
        BuildFailed: several are not; each is a member of this group.
    """
    reader = _Reader(resolver)
    hooks = Hooks(
        reader.chain(INPUT_GATES, lambda _: None, type(None)),
        reader.chain(TOOL_PREFLIGHTS, lambda hook: hook.scope(), ToolScope),
        reader.chain(TOOL_RESULT_HOOKS, lambda hook: hook.scope(), ToolResultScope),
        reader.chain(COMPLETION_GATES, lambda _: None, type(None)),
        reader.chain(SESSION_LIFECYCLES, lambda hook: hook.scope(), LifecycleScope),
        resolver[AGENT_HOOKS],
    )
    if len(reader.problems) == 1:
        raise reader.problems[0]
    if reader.problems:
        message = f"{len(reader.problems)} hooks are not usable"
        raise BuildFailed(message, reader.problems)
    return hooks


class _Reader:
    """Asks every hook for its descriptor and scope, and collects what is wrong with them."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self.problems: list[InvalidHook] = []

    def chain(
        self, slot: Chain[D], scope: Callable[[D], S], shape: type[S]
    ) -> tuple[Link[D, S], ...]:
        links: dict[str, Link[D, S]] = {}
        for component in self._resolver[slot]:
            try:
                link = _read(component, scope, shape)
            except Exception as error:  # noqa: BLE001 - whatever a component raises is reported
                self._refuse(slot.id, component, f"cannot say what it is: {error}", _FIX_SAYING)
                continue
            key = link.descriptor.key
            if key in links:
                self._refuse(slot.id, component, f"has the key {key!r} of another one", _FIX_KEY)
            links[key] = link
        return tuple(links.values())

    def _refuse(self, slot: str, component: object, problem: str, fix: str) -> None:
        what = f"a hook of type {type(component).__name__!r} in slot {slot!r} {problem}"
        self.problems.append(InvalidHook(what, fix=fix, slot=slot))


_FIX_SAYING = "let `descriptor` return an ExtensionDescriptor and `scope` the scope of its slot"
_FIX_KEY = "give each hook of a slot a descriptor key of its own"


def _read(component: D, scope: Callable[[D], S], shape: type[S]) -> Link[D, S]:
    descriptor, covered = component.descriptor(), scope(component)
    for value, wanted in ((descriptor, ExtensionDescriptor), (covered, shape)):
        if not isinstance(value, wanted):
            msg = f"it returned {value!r} where {wanted.__name__} is asked for"
            raise TypeError(msg)
    return Link(descriptor, covered, component)
