"""Media whose functions block, in worker threads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, ParamSpec, Protocol, TypeVar

import anyio
import anyio.to_thread

from agentslot.session.batches import Batches
from agentslot.session.identity import AgentId, SessionId, WorkspaceId
from agentslot.session.listing import Listed
from agentslot.session.medium import S
from agentslot.session.message import Message
from agentslot.session.state import SessionState
from agentslot.session.store import CommitRequest, NewSession, SessionOverview

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Append(Generic[S]):
    """A commit to make durable: `request`, encoded as `body`, makes `after` of `stored.state`."""

    stored: S
    request: CommitRequest
    body: bytes
    after: SessionState


class Backend(Protocol[S]):
    """A medium that one process owns while it is open, as functions that block.

    `read`, `list` and `first_message` work without `open`, too.
    """

    threads: int
    """How many of its functions may run at once, appends among them."""

    def open(self) -> None:
        """Take the medium for this process.

        Raises:
            ClassifiedError: `unavailable/sessions_in_use`, naming the process that has it.
        """
        ...

    def close(self) -> None:
        """As `Medium.close`."""
        ...

    def create(self, new: NewSession, state: SessionState) -> None:
        """As `Medium.create`."""
        ...

    def read(self, session_id: SessionId) -> S:
        """As `Medium.read`."""
        ...

    def reopen(self, session_id: SessionId) -> S:
        """As `Medium.reopen`."""
        ...

    def append(self, appends: Sequence["Append[S]"]) -> Sequence[Exception | None]:
        """Make commits of different Sessions durable.

        Returns:
            For each what `Medium.append` raises, or None.
        """
        ...

    def list(self) -> list[Listed]:
        """All Sessions, in no order."""
        ...

    def first_message(self, session_id: SessionId) -> Message | None:
        """The first message that is no copy, found without reading on."""
        ...


class InThreads(Generic[S]):
    """A blocking backend as a medium. What has begun is finished, whoever is cancelled."""

    def __init__(self, backend: Backend[S]) -> None:
        self._backend = backend
        self._threads = anyio.CapacityLimiter(backend.threads)
        # Appends count as the other functions do: a connection may bear one of them at a time.
        self._appends = Batches(backend.append, self._threads)

    async def open(self) -> None:
        """As `Medium.open`."""
        await self._in_thread(self._backend.open)

    async def close(self) -> None:
        """As `Medium.close`."""
        await self._in_thread(self._backend.close)

    async def create(self, new: NewSession, state: SessionState) -> None:
        """As `Medium.create`."""
        await self._in_thread(self._backend.create, new, state)

    async def read(self, session_id: SessionId) -> S:
        """As `Medium.read`."""
        return await self._in_thread(self._backend.read, session_id)

    async def reopen(self, session_id: SessionId) -> S:
        """As `Medium.reopen`."""
        return await self._in_thread(self._backend.reopen, session_id)

    async def is_current(self, stored: S) -> bool:
        """As `Medium.is_current`."""
        return True  # this process owns the medium

    async def append(
        self, stored: S, request: CommitRequest, body: bytes, after: SessionState
    ) -> None:
        """As `Medium.append`."""
        await self._appends.do(Append(stored, request, body, after))

    async def overview(self) -> list[SessionOverview]:
        """As `Medium.overview`."""
        return await self._in_thread(self._overview)

    def _overview(self) -> list[SessionOverview]:
        rows = [each.summary for each in self._backend.list()]
        return [SessionOverview(row, self._backend.first_message(row.id)) for row in rows]

    async def list(self, agent: AgentId, workspace: WorkspaceId) -> list[Listed]:
        """As `Medium.list`."""
        return await self._in_thread(self._backend.list)

    async def _in_thread(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await anyio.to_thread.run_sync(
            lambda: function(*args, **kwargs), limiter=self._threads
        )
