"""The registry: which Sessions are open in this process, each opened once and owned once."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup

from agentslot.interaction import SessionClosed, SessionOpened
from agentslot.session import (
    ClassifiedError,
    ErrorKind,
    OpenKind,
    Repair,
    SessionId,
    SessionState,
    WorkspaceBoundary,
)
from agentslot.standardagent.runtime.agent import AgentRuntime
from agentslot.standardagent.runtime.components import Components
from agentslot.standardagent.runtime.guests import Guests
from agentslot.standardagent.runtime.prepare import fixed_parts


@dataclass(frozen=True, slots=True)
class Opening:
    """A Session that is about to be opened, where it works, and what had to be mended."""

    state: SessionState
    boundary: WorkspaceBoundary | None
    repairs: tuple[Repair, ...] = ()


Load = Callable[[], Awaitable[Opening]]


class Registry:
    """Open Sessions by id. Each is opened under a lock of its own, so that concurrent callers of
    one Session share one opening and other Sessions do not wait.
    """

    def __init__(self, components: Components, tasks: TaskGroup) -> None:
        self.components = components
        self._parts = fixed_parts(components)
        self.guests = Guests(tasks)
        self._open: dict[SessionId, AgentRuntime] = {}
        self._doors: dict[SessionId, anyio.Lock] = {}
        self._stopped = False

    def get(self, session_id: SessionId) -> AgentRuntime:
        """The open Session.

        Raises:
            ClassifiedError: `not_found/session_not_open`.
        """
        runtime = self._open.get(session_id)
        if runtime is None or runtime.owner.closed:
            raise ClassifiedError(
                ErrorKind.NOT_FOUND,
                "session_not_open",
                f"Session {session_id!r} is not open here: create or resume it first",
            )
        return runtime

    async def resume(self, session_id: SessionId, load: Load) -> SessionOpened:
        """Open a stored Session, or join it if it is open; a closing one is waited for."""
        async with self._door(session_id):
            runtime = self._open.get(session_id)
            if runtime is not None and runtime.owner.stopping:
                await runtime.owner.stopped()  # whoever closed it may have gone away
            if runtime is not None and not runtime.owner.closed:
                return SessionOpened(session_id, runtime.owner.state.revision)
            return await self.admit(await load(), OpenKind.RESUME)

    async def admit(self, opening: Opening, kind: OpenKind) -> SessionOpened:
        """Open a Session that has just been created or read."""
        state = opening.state
        self._check_running(state.id)
        runtime = AgentRuntime(self.components, self._parts, state, self.guests, opening.boundary)
        try:
            diagnostics = await runtime.greet(kind)
            self._check_running(state.id)
            go_on = await runtime.left_open()
            self._check_running(state.id)
        except BaseException:
            runtime.owner.close()
            raise
        # From here to the end nothing waits, so that a stop meets the Session whole or not at all.
        self._open[state.id] = runtime
        if go_on is not None:
            go_on()
        return SessionOpened(state.id, runtime.owner.state.revision, opening.repairs, diagnostics)

    def _check_running(self, session_id: SessionId) -> None:
        if self._stopped:
            raise ClassifiedError(
                ErrorKind.UNAVAILABLE,
                "application_stopped",
                f"the application has stopped; Session {session_id!r} is stored and not open",
            )

    async def close(
        self, session_id: SessionId, closing: Callable[[AgentRuntime], Awaitable[SessionClosed]]
    ) -> SessionClosed:
        """Close an open Session and forget it; nobody can open it again before it has ended."""
        async with self._door(session_id):
            runtime = self.get(session_id)
            closed = await closing(runtime)
            self._open.pop(session_id, None)
            return closed

    async def stop(self) -> None:
        """Close every Session: cancel its Run, or leave one that another process is to go on with,
        and wait until the end is durable. Open no other.
        """
        self._stopped = True
        try:
            # A copy, since a Session that somebody closes meanwhile leaves the registry.
            for _, runtime in sorted(self._open.items()):
                owner = runtime.owner
                async with owner.lock:
                    owner.leave()
                await owner.stopped()
            self._open.clear()
        finally:
            self.guests.stop()

    def _door(self, session_id: SessionId) -> anyio.Lock:
        return self._doors.setdefault(session_id, anyio.Lock())
