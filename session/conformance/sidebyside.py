"""Sessions side by side: what is done to one while others are written is done to it alone."""

from collections.abc import Awaitable, Callable, Coroutine
from itertools import count
from typing import Any

import anyio
import anyio.lowlevel

from agentslot._conformance import ConformanceFailure, expect
from agentslot.session.aggregate import apply
from agentslot.session.conformance import story
from agentslot.session.conformance.check import Check, OpenStore
from agentslot.session.errors import ClassifiedError
from agentslot.session.identity import AgentId, SessionId, WorkspaceId
from agentslot.session.state import SessionState
from agentslot.session.store import CommitRequest, SessionStore

_SESSIONS = 12
_DISTURBING = 4
_GUESTS = 10
"""How many Sessions each that disturbs creates, at most."""

Disturb = Callable[[int], Coroutine[Any, Any, None]]  # what it yields is the event loop's affair
_PLACE = AgentId("agent"), WorkspaceId("workspace")


async def sessions_side_by_side_keep_apart(open_store: OpenStore) -> None:
    """Many are created, written, read and listed at once: each is what was made of it alone."""
    async with open_store() as store:
        many = _Sessions(store, "sessions_side_by_side_keep_apart")
        await many.live_beside(many.visit)
        await many.expect_whole(store)


async def a_commit_that_fails_fails_alone(open_store: OpenStore) -> None:
    """What is refused takes nothing with it of what others write at the same time."""
    async with open_store() as store:
        many = _Sessions(store, "a_commit_that_fails_fails_alone")
        await many.live_beside(many.fail)
        await many.expect_whole(store)


async def sessions_side_by_side_survive_a_restart(open_store: OpenStore) -> None:
    """All that any of them was told is there when the store is opened again."""
    async with open_store() as store:
        many = _Sessions(store, "sessions_side_by_side_survive_a_restart")
        await many.live_beside(many.visit)
    async with open_store() as store:
        await many.expect_whole(store)


class _Sessions:
    """Sessions that live at once, and what the aggregate makes of each at each revision."""

    def __init__(self, store: SessionStore, check: str) -> None:
        self._store = store
        self._check = check
        self._made: dict[tuple[SessionId, int], SessionState] = {}
        self._newest: dict[SessionId, SessionState] = {}
        self._seen: list[SessionState] = []
        self._living = _SESSIONS

    async def live_beside(self, disturb: Disturb) -> None:
        """Let every Session live, and some disturb them until all are over.

        Raises:
            ConformanceFailure: the first of what went wrong.
            Exception: likewise.
        """
        try:
            async with anyio.create_task_group() as tasks:
                for number in range(_SESSIONS):
                    tasks.start_soon(self._live, number)
                for number in range(_DISTURBING):
                    tasks.start_soon(disturb, number)
        except ExceptionGroup as group:
            raise group.exceptions[0] from None

    async def _live(self, number: int) -> None:
        """The whole story of one Session."""
        state = await self._store.create(story.new_session(f"session-{number}"))
        self._keep(state)
        for changes in story.life():
            await anyio.lowlevel.checkpoint()
            # The keys are the same everywhere: each is one of its Session.
            request = CommitRequest(state.id, state.revision, f"key-{state.revision}", changes)
            made = (await self._store.commit(request)).state
            expected = apply(state, changes, now=made.updated_at)
            self._expect(made == expected, f"a commit made something else of {state.id!r}")
            self._keep(made)
            state = made
        self._living -= 1

    async def visit(self, number: int) -> None:
        """Create Sessions, list all and read some."""
        for round_ in count():
            if not self._living:
                return
            if round_ < _GUESTS:
                guest = story.new_session(f"guest-{number}-{round_}")
                self._keep(await self._store.create(guest))
            rows = (await self._store.list_sessions(*_PLACE, limit=200)).sessions
            self._expect(len({row.id for row in rows}) == len(rows), "a listing names one twice")
            for row in rows[round_ % 7 :: 7]:
                state = (await self._store.load(row.id)).state
                told = f"{row.id!r} was listed at revision {row.revision}, then read at an older"
                self._expect(state.revision >= row.revision, told)
                self._seen.append(state)
            await anyio.lowlevel.checkpoint()

    async def fail(self, number: int) -> None:
        """Ask for what cannot be: half a commit, a stale one, a Session that is there."""
        half = story.queued("never"), story.pending("missing")
        while self._living:
            for state in list(self._newest.values())[number::_DISTURBING]:
                wrong = CommitRequest(state.id, state.revision, "wrong", half)
                stale = CommitRequest(state.id, state.revision - 1, "stale", half[:1])
                await self._refused(self._store.commit(wrong))
                await self._refused(self._store.commit(stale))
                await self._refused(self._store.create(story.new_session(state.id)))
            await anyio.lowlevel.checkpoint()

    async def _refused(self, attempt: Awaitable[object]) -> None:
        try:
            answer = await attempt
        except ClassifiedError:
            return
        raise ConformanceFailure(self._check, f"should be refused, gave {answer!r}")

    def _keep(self, state: SessionState) -> None:
        self._made[state.id, state.revision] = self._newest[state.id] = state

    async def expect_whole(self, store: SessionStore) -> None:
        """Every Session is as it was told last, and was never seen as anything else."""
        for session_id, state in self._newest.items():
            found = (await store.load(session_id)).state
            self._expect(found == state, f"{session_id!r} is not what its commits made of it")
        for seen in self._seen:
            whole = self._made.get((seen.id, seen.revision)) == seen
            self._expect(whole, f"{seen.id!r} was read at revision {seen.revision} as it never was")
        rows = (await store.list_sessions(*_PLACE, limit=200)).sessions
        listed = {row.id: row.revision for row in rows}
        told = {session_id: state.revision for session_id, state in self._newest.items()}
        self._expect(listed == told, f"the listing says {listed}, the commits said {told}")

    def _expect(self, holds: bool, detail: str) -> None:
        expect(self._check, holds, detail)


CHECKS: tuple[Check, ...] = (sessions_side_by_side_keep_apart, a_commit_that_fails_fails_alone)
DURABILITY_CHECKS: tuple[Check, ...] = (sessions_side_by_side_survive_a_restart,)
