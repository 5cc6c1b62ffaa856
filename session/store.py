"""The contract of a Session store: durability and compare-and-swap around the pure aggregate."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from agentslot import One
from agentslot.session.changes import Change
from agentslot.session.facts import Fact
from agentslot.session.identity import Actor, AgentId, SessionId, WorkspaceId
from agentslot.session.message import Message
from agentslot.session.modelconfig import ModelConfig
from agentslot.session.record import record
from agentslot.session.state import Lineage, SessionState


@dataclass(frozen=True, slots=True)
class NewSession:
    """What a store needs to create a Session; it invents no ids and no defaults.

    Attributes:
        facts: what History starts with: the copies of a fork, each with its `origin_id`, or user
            messages that belong to no Run (a summary). They keep their time and actor; session
            and sequence are given anew.
    """

    id: SessionId
    agent: AgentId
    workspace: WorkspaceId
    model_config: ModelConfig
    lineage: Lineage | None = None
    facts: tuple[Fact, ...] = ()


@record
class CommitRequest:
    """One atomic step of a Session.

    Attributes:
        expected_revision: the revision that the changes were decided on.
        idempotency_key: names this commit; the same request sent again gets the first outcome.
        actor: who caused it, or None for the service itself.
    """

    session_id: SessionId
    expected_revision: int
    idempotency_key: str
    changes: tuple[Change, ...]
    actor: Actor | None = None


@record
class Commit:
    """Outcome of a commit.

    Attributes:
        state: the Session after it; for a repeated request, the Session as it is now.
        revision: the revision that this commit made.
        first_sequence: first fact it appended, 0 if none.
        last_sequence: last fact it appended, 0 if none.
        applied: False if this was a repetition that found its commit already there.
    """

    state: SessionState
    revision: int
    first_sequence: int
    last_sequence: int
    applied: bool = True


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One row of a listing; `parent` is the Session that it was forked or derived from."""

    id: SessionId
    agent: AgentId
    workspace: WorkspaceId
    revision: int
    updated_at: datetime
    parent: SessionId | None = None


@dataclass(frozen=True, slots=True)
class SessionOverview:
    """A Session as somebody who looks for one sees it.

    Attributes:
        first_message: what it begins with, or a fork goes on with; None while nothing was said.
    """

    summary: SessionSummary
    first_message: Message | None


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A page of a listing; an empty `next_cursor` ends it."""

    sessions: Sequence[SessionSummary]
    next_cursor: str


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that loading had to mend or leave out, in words for people."""

    line: int | None
    description: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """A Session as it was found, and what had to be mended to read it."""

    state: SessionState
    repairs: tuple[Repair, ...] = ()


class SessionStore(Protocol):
    """Keeps Sessions. Every implementation yields the same states for the same requests.

    All methods check for cancellation when they are entered; once writing has begun it is finished.
    Raises common to all: ClassifiedError `not_found/session_not_found`; SessionDamagedError.
    """

    async def create(self, new: NewSession) -> SessionState:
        """Create a Session at revision 1.

        Raises:
            ClassifiedError: `conflict/session_already_exists`; `invalid_input/…` for a bad request.
        """
        ...

    async def load(self, session_id: SessionId) -> Loaded:
        """Read a Session. Never recovers and never writes."""
        ...

    async def recover(self, session_id: SessionId) -> Loaded:
        """Settle what a crash left open (aggregate.recover); a second call changes nothing."""
        ...

    async def commit(self, request: CommitRequest) -> Commit:
        """Apply the changes durably, or none of them.

        Raises:
            RevisionConflictError: the Session is not at `expected_revision`; nothing was written.
            ClassifiedError: `conflict/revision_conflict` if the key names another request already;
                `conflict/…` or `invalid_input/…` if a change breaks an invariant;
                `unavailable/…` if the commit could not be made durable. Sending the same request
                again after that finds out whether it was.
        """
        ...

    async def list_sessions(
        self, agent: AgentId, workspace: WorkspaceId, *, limit: int = 50, cursor: str = ""
    ) -> SessionPage:
        """List a scope, newest change first. Opens and recovers nothing.

        A page has 1 to 200 Sessions; 0 for 50.

        Raises:
            ClassifiedError: `invalid_input/…` for a bad limit, or a cursor of another scope.
        """
        ...


SESSION_STORE = One[SessionStore]("session.store", filled_by="FileStoreModule(directory)")
