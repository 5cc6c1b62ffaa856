"""Commit notices: one ordered queue for each open Session."""

import math
from collections.abc import Sequence

import anyio

from agentslot.session import SessionState
from agentslot.standardagent.observe.contract import CommitNotice, SessionCommitObserver
from agentslot.standardagent.observe.guard import Guard


class CommitNotices:
    """Tells the observers of the commits of one Session until it is closed."""

    def __init__(self, observers: Sequence[SessionCommitObserver]) -> None:
        self._observers = observers
        self._guard = Guard()
        self._scope = anyio.CancelScope()
        self._notices, self._waiting = anyio.create_memory_object_stream[CommitNotice](math.inf)

    def committed(self, previous: SessionState, state: SessionState) -> None:
        """Queue the notice of the commit that made `state` out of `previous`; never waits."""
        if state.revision == previous.revision:
            return
        before, now = previous.history.last_sequence, state.history.last_sequence
        facts = (before + 1, now) if now > before else (0, 0)
        self._notices.send_nowait(CommitNotice(state.id, state.revision, *facts))

    async def deliver(self) -> None:
        """Call the observers until `close`; runs in a task of its own."""
        with self._scope, self._notices, self._waiting:
            async for notice in self._waiting:
                for observer in self._observers:
                    await self._guard.call(observer, observer.observe_session_commit, notice)

    def close(self) -> None:
        """Stop, also in the middle of a call; notices that wait are discarded."""
        self._scope.cancel()
