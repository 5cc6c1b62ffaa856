"""Sessions that live as long as the process: for development, tests and short errands."""

from collections.abc import Callable
from typing import Any

import anyio.lowlevel

from agentslot.session.aggregate import apply, create, recover
from agentslot.session.changes import (
    AppendAttempt,
    AppendBudgetExceeded,
    AppendContextContribution,
    AppendLimitExceeded,
    AppendMessage,
    AppendRun,
    AppendToolCall,
    AppendToolResult,
    Change,
    MarkToolPending,
    SetContext,
)
from agentslot.session.clock import Clock, StrictClock, utc_now
from agentslot.session.codec import encode
from agentslot.session.errors import RevisionConflictError
from agentslot.session.facts import (
    ContextContribution,
    ModelAttempt,
    Payload,
    RunBudgetExceeded,
    RunFact,
    RunLimitExceeded,
)
from agentslot.session.fileformat import commit_body, header_of
from agentslot.session.identity import AgentId, SessionId, WorkspaceId
from agentslot.session.listing import Listing, listed
from agentslot.session.message import Message
from agentslot.session.recent import Outcome, RecentCommits, answer_again, commit_of, outcome_of
from agentslot.session.requests import check_request, session_exists, session_not_found
from agentslot.session.state import SessionState
from agentslot.session.store import Commit, CommitRequest, Loaded, NewSession, SessionPage
from agentslot.session.toolcall import ToolCall, ToolResult

_Evidence = CommitRequest | tuple[Change | None, ...] | None
"""What is kept of a request, beside what History has of it: None for each fact, or for all."""

# Each takes its own class of payload; the table pairs them, which no annotation can say.
_APPENDS: dict[type[Payload], Callable[[Any], Change]] = {
    Message: AppendMessage,
    ToolCall: AppendToolCall,
    ToolResult: AppendToolResult,
    RunFact: AppendRun,
    ModelAttempt: AppendAttempt,
    ContextContribution: AppendContextContribution,
    RunBudgetExceeded: AppendBudgetExceeded,
    RunLimitExceeded: AppendLimitExceeded,
}

_APPENDING = frozenset(_APPENDS.values())

_FREQUENT = frozenset(
    {
        AppendAttempt,
        AppendMessage,
        AppendRun,
        AppendToolCall,
        AppendToolResult,
        MarkToolPending,
        SetContext,
    }
)
"""What happens in every turn: the rules look at the texts of these, which costs far less."""


def _evidence_of(request: CommitRequest) -> _Evidence:
    if request.actor is not None:
        return request
    if _APPENDING.issuperset(map(type, request.changes)):
        return None
    return tuple([None if type(change) in _APPENDING else change for change in request.changes])


def _request_of(
    key: str, evidence: _Evidence, outcome: Outcome, state: SessionState
) -> CommitRequest:
    """The request of a commit that the Session has applied."""
    if isinstance(evidence, CommitRequest):
        return evidence
    facts = state.history[outcome.first_sequence - 1 : outcome.last_sequence]
    payloads = [fact.payload for fact in facts]
    appended = (_APPENDS[type(each)](each) for each in payloads if type(each) in _APPENDS)
    if evidence is None:
        changes = tuple(appended)
    else:
        changes = tuple(next(appended) if change is None else change for change in evidence)
    return CommitRequest(state.id, outcome.revision - 1, key, changes)


class MemoryStore:
    """A SessionStore without durability. Nothing is serialized, and a commit never waits.

    Args:
        clock: where commits take their time from; readings are made to grow.
    """

    def __init__(self, *, clock: Clock = utc_now) -> None:
        self._clock = StrictClock(clock)
        self._states: dict[SessionId, SessionState] = {}
        self._recent: dict[SessionId, RecentCommits[_Evidence]] = {}
        self._listing = Listing()

    async def create(self, new: NewSession) -> SessionState:
        """Create a Session at revision 1."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        if new.id in self._states:
            raise session_exists(new.id)
        state = create(new, self._clock())
        encode(header_of(new))  # refuses what no other store could keep; facts have passed rules
        self._states[new.id] = state
        self._recent[new.id] = RecentCommits()
        return state

    async def load(self, session_id: SessionId) -> Loaded:
        """The Session as it is."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        return Loaded(self._state(session_id))

    async def recover(self, session_id: SessionId) -> Loaded:
        """Settle what an owner that is gone left open."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        state = self._state(session_id)
        changes = recover(state)
        if changes:
            state = apply(state, changes, now=self._clock(state.updated_at))
            self._states[session_id] = state
        return Loaded(state)

    async def commit(self, request: CommitRequest) -> Commit:
        """Apply the changes, or none of them."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        check_request(request)
        if not _FREQUENT.issuperset(map(type, request.changes)):
            commit_body(request)  # refuses what no other store could keep
        before = self._state(request.session_id)
        recent = self._recent[request.session_id]
        if request.idempotency_key in recent:
            evidence, outcome = recent.find(request.idempotency_key)
            same = request == _request_of(request.idempotency_key, evidence, outcome, before)
            return answer_again(request.idempotency_key, outcome, before, same=same)
        if request.expected_revision != before.revision:
            raise RevisionConflictError(request.expected_revision, before.revision)
        after = apply(
            before, request.changes, now=self._clock(before.updated_at), actor=request.actor
        )
        self._states[request.session_id] = after
        outcome = outcome_of(after.revision, before.history, after.history)
        recent.add(request.idempotency_key, _evidence_of(request), outcome)
        return commit_of(after, outcome)

    async def list_sessions(
        self, agent: AgentId, workspace: WorkspaceId, *, limit: int = 50, cursor: str = ""
    ) -> SessionPage:
        """List a scope, newest change first."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        sessions = (listed(state) for state in self._states.values())
        return self._listing.page(
            sessions, agent, workspace, limit=limit, cursor=cursor, now=self._clock()
        )

    def _state(self, session_id: SessionId) -> SessionState:
        state = self._states.get(session_id)
        if state is None:
            raise session_not_found(session_id)
        return state
