"""What a durable store writes to: a directory, a database file, a database server."""

from dataclasses import dataclass
from typing import Protocol, TypeVar

from agentslot.session.errors import ClassifiedError
from agentslot.session.identity import AgentId, SessionId, WorkspaceId
from agentslot.session.listing import Listed
from agentslot.session.recent import RecentCommits
from agentslot.session.state import SessionState
from agentslot.session.store import CommitRequest, NewSession, Repair, SessionOverview


class UncertainError(ClassifiedError):
    """The write failed, and so did taking it back: only reading the Session again tells."""


class UnflushedError(UncertainError):
    """The same, and what is read again may be in the system's memory alone: see `Medium.reopen`."""


@dataclass(slots=True)
class Stored:
    """A Session as the medium has it; media add what they need to write on."""

    state: SessionState
    recent: RecentCommits[bytes]
    repairs: tuple[Repair, ...]


S = TypeVar("S", bound=Stored)


class Medium(Protocol[S]):
    """Where Sessions lie. No method is called twice at once for the same Session."""

    async def open(self) -> None:
        """Get ready to write.

        Raises:
            ClassifiedError: `unavailable/…`: somebody else has it, or it cannot be reached.
        """
        ...

    async def close(self) -> None:
        """Give the medium back."""
        ...

    async def create(self, new: NewSession, state: SessionState) -> None:
        """Put a new Session there, durably.

        Raises:
            ClassifiedError: `conflict/session_already_exists`, `unavailable/not_durable`.
        """
        ...

    async def read(self, session_id: SessionId) -> S:
        """Read a Session; nothing is written.

        Raises:
            ClassifiedError: `not_found/session_not_found`, `unavailable/…`.
            SessionDamagedError: it cannot be trusted.
        """
        ...

    async def reopen(self, session_id: SessionId) -> S:
        """Read a Session to write to it: what it holds is durable when it is returned.

        Raises:
            ClassifiedError: as `read`, and `unavailable/not_durable`.
        """
        ...

    async def is_current(self, stored: S) -> bool:
        """Whether nobody else has written to the Session since it was read."""
        ...

    async def append(
        self, stored: S, request: CommitRequest, body: bytes, after: SessionState
    ) -> None:
        """Make one commit durable: `request`, encoded as `body`, makes `after` of `stored.state`.

        Raises:
            RevisionConflictError: somebody else has written since.
            UncertainError: nobody knows whether it is durable.
            ClassifiedError: `unavailable/not_durable`: it is not, and nothing is left of it.
        """
        ...

    async def overview(self) -> list[SessionOverview]:
        """All Sessions of all scopes with what was said first in them, in no order.

        What cannot be read is left out.
        """
        ...

    async def list(self, agent: AgentId, workspace: WorkspaceId) -> list[Listed]:
        """The Sessions of a scope, and perhaps others, in no order."""
        ...
