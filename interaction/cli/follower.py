"""Following a Session: its events, across the gaps that a slow reader leaves."""

from collections.abc import Callable

import anyio
from anyio.abc import TaskStatus

from agentslot.interaction.errors import EventStreamOverflow
from agentslot.interaction.events import Event, RevisionAdvanced
from agentslot.interaction.gateway import SessionView
from agentslot.interaction.handle import ChannelSession


class Follower:
    """Hands each event to `on_event`, and the whole view to `on_view` where events may be missing.

    That is once at the beginning, and again whenever the stream overflowed.
    """

    def __init__(
        self,
        session: ChannelSession,
        on_event: Callable[[Event], None],
        on_view: Callable[[SessionView], None],
    ) -> None:
        self._session = session
        self._on_event = on_event
        self._on_view = on_view
        self._revision = 0
        self._ended = False
        self._moved = anyio.Event()

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Follow until the Session is closed; `started` is called once nothing more is missed."""
        started = False
        while not self._ended:
            async with self._session.events() as events:
                view = await self._session.view()
                self._on_view(view)
                self._move_to(view.revision)
                if not started:
                    task_status.started()
                    started = True
                try:
                    async for event in events:
                        self._on_event(event)
                        if isinstance(event, RevisionAdvanced):
                            self._move_to(event.revision)
                    self._ended = True
                except EventStreamOverflow:
                    continue
        self._move_to(self._revision)

    async def caught_up(self, revision: int) -> None:
        """Wait until the events up to that revision were handed on, or no more will come."""
        while self._revision < revision and not self._ended:
            await self._moved.wait()

    def _move_to(self, revision: int) -> None:
        self._revision = max(self._revision, revision)
        self._moved.set()
        self._moved = anyio.Event()
