"""One prompt, one Run, one answer."""

import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

import anyio
from anyio.abc import TaskGroup

from agentslot import Application
from agentslot.interaction import (
    GATEWAY_ACCESS,
    ChannelSession,
    Event,
    InProcessChannel,
    PendingApproval,
    RunResult,
    SessionView,
)
from agentslot.interaction.cli import (
    CLI_ACTOR,
    Approvals,
    Decision,
    DescriptorLines,
    Follower,
    Questions,
    Screen,
    interrupts,
)
from agentslot.session import RunStatus
from agentslot.standardagent.command.conversing import INTERRUPTED, leaving
from agentslot.standardagent.command.failure import UsageError
from agentslot.standardagent.command.showing import Show
from agentslot.tool import Attachment

Approve = Literal["ask", "all", "none"]
_Decide = Callable[[PendingApproval], Awaitable[Decision]]

_CHOSE_NONE = "--approve none denies every call that needs approval"
_NOBODY_ANSWERED = "nobody answered: the input ended"
_DENIED = "nobody can be asked here, there is no terminal: run again with --approve all"


class OneShot:
    """Sends one prompt to an application and shows what comes of it.

    Args:
        session_id: the Session to go on with; else a new one of `agent` and `workspace`.
        approve: what to do about calls that wait for a person.
        can_ask: whether there is a person at a terminal to ask.
        attachments: what goes with the prompt.
    """

    def __init__(
        self,
        application: Application,
        show: Show,
        *,
        session_id: str | None,
        agent: str,
        workspace: str,
        approve: Approve,
        can_ask: bool,
        attachments: Sequence[Attachment] = (),
    ) -> None:
        self._attachments = attachments
        self._application = application
        self._show = show
        self._session_id = session_id
        self._scope = (agent, workspace)
        self._decide = _decider(approve, can_ask=can_ask)
        self._interrupted = False

    async def run(self, prompt: str) -> int:
        """Start the application, send, wait; returns the exit code."""
        with leaving() as leave:
            result = await self._answer(prompt, leave)
        if self._interrupted:
            return INTERRUPTED
        return 0 if result is not None and result.status is RunStatus.COMPLETED else 1

    async def _answer(self, prompt: str, leave: Callable[[], None]) -> RunResult | None:
        async with self._application.start() as runtime:
            access = runtime.assembly.get(GATEWAY_ACCESS)
            if access is None:
                raise UsageError(
                    f"{self._application.name!r} is no agent, nobody would answer the prompt: make"
                    " it with agentslot.standardagent.new_application, or run it without a prompt"
                )
            channel = InProcessChannel(actor=CLI_ACTOR)
            channel.bind(access)
            session = await self._open(channel)
            self._show.opened(session)
            return await self._send(session, prompt, leave)

    async def _open(self, channel: InProcessChannel) -> ChannelSession:
        if self._session_id is not None:
            return await channel.resume_session(self._session_id)
        agent, workspace = self._scope
        return await channel.create_session(agent=agent, workspace=workspace)

    async def _send(
        self, session: ChannelSession, prompt: str, leave: Callable[[], None]
    ) -> RunResult | None:
        result: RunResult | None = None
        async with anyio.create_task_group() as tasks:
            watch = _Watch(session, self._show, self._decide, tasks)
            await tasks.start(watch.follower.run)

            async def interrupt() -> None:
                if self._interrupted:
                    leave()
                    tasks.cancel_scope.cancel()
                    return
                self._interrupted = True
                self._show.canceling()
                await session.cancel()

            async with interrupts(interrupt):
                result = await session.send_and_wait([prompt, *self._attachments])
                await watch.follower.caught_up(result.revision)
            self._show.result(result)
            tasks.cancel_scope.cancel()
        return result


class _Watch:
    """Shows events, and sees to the calls that wait for a person."""

    def __init__(
        self, session: ChannelSession, show: Show, decide: _Decide, tasks: TaskGroup
    ) -> None:
        self._show = show
        self._tasks = tasks
        self.follower = Follower(session, self._on_event, self._on_view)
        self._approvals = Approvals(session, decide, show.error)

    def _on_event(self, event: Event) -> None:
        self._show.event(event)
        self._approvals.notice(event, self._tasks)

    def _on_view(self, view: SessionView) -> None:
        self._approvals.notice_all(view.approvals, self._tasks)


def _decider(approve: Approve, *, can_ask: bool) -> _Decide:
    if approve == "ask" and can_ask:
        return _ask
    reason = _CHOSE_NONE if approve == "none" else _DENIED

    async def decide(_: PendingApproval) -> Decision:
        return Decision(approve == "all", reason)

    return decide


async def _ask(pending: PendingApproval) -> Decision:
    """Ask in the terminal; the end of the input is a no."""
    lines = DescriptorLines(sys.stdin.fileno())
    questions = Questions(Screen(sys.stderr), lines.discard_typed_ahead)

    async def read() -> None:
        async for line in lines:
            questions.answer(line)
        questions.answer(_NOBODY_ANSWERED)

    decision = Decision(approved=False)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        decision = await questions.ask(pending)
        tasks.cancel_scope.cancel()
    return decision
