"""The owner of one open Session: its state, its lock, its commits, its listeners."""

import logging
from collections import deque
from collections.abc import Sequence
from typing import Protocol

import anyio

from agentslot.interaction import Origin, RevisionAdvanced
from agentslot.session import (
    Actor,
    Change,
    ClassifiedError,
    Commit,
    CommitRequest,
    ErrorKind,
    RevisionConflictError,
    SessionId,
    SessionState,
    WorkspaceBoundary,
)
from agentslot.standardagent.observe import CommitNotices, SessionWatch
from agentslot.standardagent.runtime.components import Components
from agentslot.standardagent.runtime.guests import Guests
from agentslot.standardagent.runtime.hub import EventHub
from agentslot.standardagent.runtime.projection import Projection
from agentslot.standardagent.runtime.toolset import FoundTools

log = logging.getLogger(__name__)


class Cancelable(Protocol):
    """A Run in progress, as far as its owner needs to know it."""

    def cancel(self, actor: Actor | None) -> None:
        """Ask it to end as canceled."""
        ...

    def leave(self) -> bool:
        """Let go of it as it is, if another process can go on with it; whether that was done."""
        ...


class CommitLock:
    """A lock that costs next to nothing while nobody else wants it.

    Who waits gets it in the order of coming, and does not lose it to one that comes later.
    """

    def __init__(self) -> None:
        self._held = False
        self._waiting: deque[anyio.Event] = deque()

    async def __aenter__(self) -> None:
        if not self._held:
            self._held = True
            return
        turn = anyio.Event()
        self._waiting.append(turn)
        try:
            await turn.wait()
        except BaseException:
            if turn.is_set():
                self._pass_on()
            else:
                self._waiting.remove(turn)
            raise

    async def __aexit__(self, *error: object) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        """Hand the lock to who waits longest, or leave it free."""
        if self._waiting:
            self._waiting.popleft().set()
        else:
            self._held = False


class SessionOwner:
    """The only writer of one Session in this process.

    `lock` is held from reading the state to the commit decided on it, never across a call into a
    replaceable component other than the store.

    Attributes:
        guests: what its tools and components run among.
        submitting: held while a message is submitted past input gates; taken before `lock`.
        asking: what input gates are asked in; cancelled when the Session stops.
        watch: what publishes observations; None while there is no sink for them.
        notices: what tells the commit observers; None if there are none.
        found_tools: the deferred tools that it has found.
        boundary: the workspace that its tools work in; None without a workspace manager.
    """

    def __init__(
        self,
        components: Components,
        state: SessionState,
        guests: Guests,
        boundary: WorkspaceBoundary | None = None,
    ) -> None:
        self.components = components
        self.state = state
        self.boundary = boundary
        self.lock = CommitLock()
        self.hub = EventHub(state.id)
        self.watch = _watch(components, state)
        self.guests = guests
        observers = components.commit_observers
        self.notices = CommitNotices(observers) if observers else None
        self.projection = Projection()
        self.found_tools = FoundTools(components.tools, components.deferred)
        self.run: Cancelable | None = None
        self.submitting = anyio.Lock(fast_acquire=True)
        self.asking: anyio.CancelScope | None = None
        self.stopping = False
        self.closed = False
        self._origin = Origin(state.id)
        self._idle = anyio.Event()
        if state.active_run is None:
            self._idle.set()

    @property
    def id(self) -> SessionId:
        """The Session."""
        return self.state.id

    async def commit(
        self, label: str, changes: Sequence[Change], actor: Actor | None = None
    ) -> Commit:
        """Make the changes durable; the caller holds the lock. Once begun it is not cancelled.

        A store that refuses at first and has the commit after all has not refused it.

        Raises:
            ClassifiedError: the changes break an invariant or could not be made durable; the state
                here is then as before.
        """
        with anyio.CancelScope(shield=True):
            return await self.commit_in_shield(label, changes, actor)
        raise AssertionError("unreachable: a shielded scope swallows nothing")

    async def commit_in_shield(
        self, label: str, changes: Sequence[Change], actor: Actor | None = None
    ) -> Commit:
        """Like `commit`, for a caller that no cancellation reaches."""
        state = self.state
        key = self.components.ids.commit(label)
        request = CommitRequest(state.id, state.revision, key, tuple(changes), actor)
        try:
            commit = await self.components.store.commit(request)
        except RevisionConflictError:
            # Another process has written: what is known here is outdated, whoever reads it again.
            if state.active_run is None:
                self.close()
            raise
        except ClassifiedError as error:
            if error.kind is not ErrorKind.UNAVAILABLE:
                raise
            found = await self._stored_after_all(request)
            if found is None:
                raise
            commit = found
        self.adopt(commit.state)
        return commit

    async def _stored_after_all(self, request: CommitRequest) -> Commit | None:
        """The commit that was refused, if the store has it, which knows it by its key.

        If the store cannot say, or another process has written instead, an idle Session is closed,
        and a Run that is active will end.

        Raises:
            RevisionConflictError: another process has written, while a Run was active here.
        """
        before = self.state
        try:
            after = (await self.components.store.load(before.id)).state
            if after.revision == before.revision:
                return None
            return await self.components.store.commit(request)
        except ClassifiedError as error:
            if isinstance(error, RevisionConflictError) and before.active_run is not None:
                raise
            log.exception("nobody knows whether Session %s was written", before.id)
            if before.active_run is None:
                self.close()
            return None

    async def look_back(self) -> None:
        """Look at what earlier processes left in History; afterwards nothing has to be read.

        Raises:
            SessionDamagedError: it cannot be read.
        """
        history = self.state.history
        await self.projection.catch_up(history)
        await self.found_tools.catch_up(history)

    def adopt(self, state: SessionState) -> None:
        """Take a newer state of the Session for the current one and tell who listens."""
        previous, self.state = self.state, state
        if state.active_run is None:
            self._idle.set()
        elif previous.active_run is None:
            self._idle = anyio.Event()
        if self.hub.listening:
            event = RevisionAdvanced(self._origin, self.hub.next_sequence(), state.revision)
            self.hub.publish(event)
        if self.notices is not None:
            self.notices.committed(previous, state)
        if self.watch is not None:
            self.watch.committed(previous, state)

    def check_writable(self, expected_revision: int | None) -> None:
        """Refuse a write to a closed Session or one that the caller has not seen.

        Raises:
            ClassifiedError: `unavailable/runtime_closed`.
            RevisionConflictError: the Session has moved on.
        """
        if self.stopping or self.closed:
            raise runtime_closed(self.id)
        if expected_revision is not None and expected_revision != self.state.revision:
            raise RevisionConflictError(expected_revision, self.state.revision)

    async def when_idle(self) -> None:
        """Wait until no Run is active, or the Session is closed."""
        while self.state.active_run is not None and not self.closed:
            await self._idle.wait()

    def stop(self, actor: Actor | None = None) -> None:
        """Accept no more work and cancel the active Run; the caller holds the lock.

        So no commit is in flight that could start another Run. `stopped` waits for the end.
        """
        self._reject()
        if self.state.active_run is not None and self.run is not None:
            self.run.cancel(actor)

    def leave(self) -> None:
        """`stop`, but leave a Run with which another process can go on; the lock is held, too."""
        if self.run is not None and self.run.leave():
            self._reject()
        else:
            self.stop()

    def _reject(self) -> None:
        self.stopping = True
        if self.asking is not None:
            self.asking.cancel()

    async def at_rest(self) -> None:
        """Wait until a Session that is being stopped has ended its Run and its submission."""
        await self.when_idle()
        async with self.submitting:
            return

    async def stopped(self) -> None:
        """Wait until the end of a Session that is being stopped is durable, then close it."""
        await self.at_rest()
        self.close()

    def close(self) -> None:
        """Accept no more work and end every event stream."""
        if self.closed:
            return
        self.closed = True
        self._idle.set()
        self.hub.close()
        if self.notices is not None:
            self.notices.close()
        if self.watch is not None:
            self.watch.closed()


def _watch(components: Components, state: SessionState) -> SessionWatch | None:
    hub = components.observation
    if not hub.has_sinks:
        return None
    return SessionWatch(hub, state, components.tools, components.now)


def runtime_closed(session_id: SessionId) -> ClassifiedError:
    """The Session was closed under the caller."""
    return ClassifiedError(
        ErrorKind.UNAVAILABLE,
        "runtime_closed",
        f"Session {session_id!r} has been closed: resume it to go on",
    )
