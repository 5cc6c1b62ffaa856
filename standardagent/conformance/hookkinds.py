"""The five kinds of typed hooks, as their referee knows them: what they are asked, and when."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from agentslot import Chain
from agentslot.interaction import ChannelSession, InputGateError, QueuedCommand
from agentslot.session import (
    ErrorKind,
    ExtensionDescriptor,
    MessageInput,
)
from agentslot.standardagent.conformance.stage import Stage
from agentslot.standardagent.hook import (
    COMPLETION_GATES,
    INPUT_GATES,
    SESSION_LIFECYCLES,
    TOOL_PREFLIGHTS,
    TOOL_RESULT_HOOKS,
    CompletionGateResult,
    InputGateResult,
    LifecycleScope,
    SessionLifecycleResult,
    ToolPreflightResult,
    ToolResultHookResult,
    ToolResultScope,
    ToolScope,
)

T = TypeVar("T")
Hook = Any  # the five contracts have one shape, but no type in common
Drive = Callable[[Stage, ChannelSession, Sequence[str]], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class HookKind:
    """One place of the Runtime where hooks are asked.

    Attributes:
        agrees: an answer that hinders nothing.
        scope: a scope that covers everything; None if there are no scopes at that place.
        drive: lets a Session ask its hooks everything that it may ask; it is given the tools that
            the hook under test looks at.
        dies_after: label of the commit that records a question which the next process asks if this
            one dies then; empty if there is none.
    """

    slot: Chain[Hook]
    agrees: object
    scope: object
    drive: Drive
    dies_after: str = ""


class Onlooker:
    """A hook that agrees to everything and remembers what it was shown."""

    def __init__(self, kind: HookKind) -> None:
        self.views: list[Any] = []
        self._kind = kind

    def descriptor(self) -> ExtensionDescriptor:
        """Which hook this is."""
        return ExtensionDescriptor.of("conformance.onlooker", "1")

    def scope(self) -> object:
        """Everything."""
        return self._kind.scope

    async def evaluate(self, view: object) -> object:
        """Agree."""
        self.views.append(view)
        return self._kind.agrees


async def _admitted(submission: Awaitable[T]) -> T | None:
    """What comes of a submission; None if a gate did not let it through."""
    try:
        return await submission
    except InputGateError as error:
        if error.kind is ErrorKind.CONFLICT:
            raise
        return None


async def _say(session: ChannelSession, *orders: str) -> None:
    """Let Runs follow each other."""
    for order in orders:
        await _admitted(session.send_and_wait(order))


async def _submit(stage: Stage, session: ChannelSession, tools: Sequence[str]) -> None:
    """Send, steer and edit."""
    del tools
    await _say(session, "hello")
    if await _admitted(session.send("wait hello")) is None:
        return
    await stage.model.waiting(session.id)
    await _admitted(session.steer("another thing"))
    queued = await _admitted(session.send("and then?"))
    if queued is not None:
        command = QueuedCommand(session.id, queued.message_id)
        await _admitted(stage.channel.access.edit_queued(command, MessageInput.of("and now?")))
    stage.model.go_on(session.id)
    await session.when_idle()


async def _call(stage: Stage, session: ChannelSession, tools: Sequence[str]) -> None:
    """Call each tool, so that it succeeds and so that it fails, alone and with others."""
    del stage
    await _say(session, f"call {' '.join(tools)}", *(f"call {tool}!" for tool in tools))


async def _complete(stage: Stage, session: ChannelSession, tools: Sequence[str]) -> None:
    """Complete, with and without having called a tool."""
    del stage
    await _say(session, "hello", f"call {tools[0]}")


async def _open_and_close(stage: Stage, session: ChannelSession, tools: Sequence[str]) -> None:
    """Run, close, resume, fork, close."""
    del tools
    await _say(session, "hello")
    await session.close()
    resumed = await stage.channel.resume_session(session.id)
    await _say(resumed, "hello again")
    fork = await stage.channel.fork_session(session.id, agent="conformance", workspace="default")
    await _say(fork, "hello there")
    await fork.close()
    await resumed.close()


KINDS = {
    kind.slot.id: kind
    for kind in (
        HookKind(INPUT_GATES, InputGateResult.accept(), None, _submit),
        HookKind(
            TOOL_PREFLIGHTS,
            ToolPreflightResult.allow(),
            ToolScope(),
            _call,
            dies_after="model-complete",
        ),
        HookKind(
            TOOL_RESULT_HOOKS,
            ToolResultHookResult(),
            ToolResultScope(),
            _call,
        ),
        HookKind(
            COMPLETION_GATES,
            CompletionGateResult.complete(),
            None,
            _complete,
            dies_after="completion-gates-prepare",
        ),
        HookKind(
            SESSION_LIFECYCLES,
            SessionLifecycleResult(),
            LifecycleScope(),
            _open_and_close,
        ),
    )
}
"""By the id of their slots."""
