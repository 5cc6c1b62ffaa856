"""New Sessions out of old ones: forks that copy History, and fresh starts from a summary."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from agentslot.session.branch import followed_by
from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.facts import (
    AttemptStatus,
    ContextContribution,
    Fact,
    ModelAttempt,
    ModelConfigChanged,
    Payload,
    RunBudgetExceeded,
    RunFact,
    RunLimitExceeded,
    RunStatus,
)
from agentslot.session.history import History
from agentslot.session.identity import (
    SERVICE_ACTOR,
    Actor,
    AgentId,
    SessionId,
    WorkspaceId,
)
from agentslot.session.message import Message, MessageInput
from agentslot.session.modelconfig import ModelConfig
from agentslot.session.state import Lineage, SessionState
from agentslot.session.store import NewSession
from agentslot.session.toolcall import ToolCall, ToolResult

Identity = TypeVar("Identity", bound=str)


class ForkMode(StrEnum):
    """How much of a Session's History a fork takes along."""

    FULL_HISTORY = "full_history"
    HISTORY_PREFIX = "history_prefix"


def fork(
    source: SessionState,
    session_id: SessionId,
    *,
    mode: ForkMode = ForkMode.FULL_HISTORY,
    cutoff: int = 0,
    agent: AgentId | None = None,
    workspace: WorkspaceId | None = None,
    model_config: ModelConfig | None = None,
) -> NewSession:
    """What a store needs to create a child with the source's History, or the head of it.

    Messages, calls, Runs, steps and attempts get identities of the child's own; each copied fact
    names the fact it copies. Queue, journal and contexts stay behind.

    Args:
        source: the Session to fork; it must be idle for a full fork.
        session_id: identity of the child.
        mode: all facts, or those up to `cutoff`.
        cutoff: sequence of the last fact to copy: the last one of a finished step or Run, or 0 for
            an empty History. Only with `history_prefix`.
        agent: whose Session it is; the source's by default, like the two below.
        workspace: where it belongs.
        model_config: its model.

    Raises:
        ClassifiedError: `conflict/active_run`: a full fork of a running Session;
            `invalid_input/invalid_cutoff`: there is no completed boundary.
    """
    if mode is ForkMode.FULL_HISTORY:
        _require_idle(source, cutoff)
        cutoff = source.history.last_sequence
    elif cutoff != 0 and not is_completed_boundary(source, cutoff):
        raise _invalid_cutoff(
            f"sequence {cutoff} is not the end of a finished step or run; the nearest before it is"
            f" {_boundary_before(source, cutoff)}"
        )
    copy = copy_of(source, session_id, cutoff)
    return replace(
        copy,
        agent=agent or source.agent,
        workspace=workspace or source.workspace,
        model_config=model_config or source.model_config,
    )


def copy_of(source: SessionState, session_id: SessionId, cutoff: int) -> NewSession:
    """What a store needs to create a child with the first facts, wherever that cuts History."""
    renamed = _Renaming(session_id)
    facts = tuple(renamed.copy(fact) for fact in source.history[:cutoff])
    lineage = Lineage(source.id, source.revision, cutoff)
    return NewSession(
        session_id, source.agent, source.workspace, source.model_config, lineage, facts
    )


def _require_idle(source: SessionState, cutoff: int) -> None:
    if cutoff != 0:
        raise _invalid_cutoff("a full fork takes no cutoff")
    if source.active_run is not None:
        raise ClassifiedError(
            ErrorKind.CONFLICT,
            "active_run",
            f"run {source.active_run.id!r} is active: fork a prefix, or wait for its end",
        )


def _invalid_cutoff(problem: str) -> ClassifiedError:
    return ClassifiedError(ErrorKind.INVALID_INPUT, "invalid_cutoff", problem)


def is_completed_boundary(state: SessionState, cutoff: int) -> bool:
    """Whether History may be cut behind that fact.

    It may behind the end of a Run, behind the last fact of a step, and behind a fact of no Run,
    unless that would part a call from its result or an attempt from its end.
    """
    history = state.history
    if not 1 <= cutoff <= history.last_sequence:
        return False
    last = history[cutoff - 1]
    following = history[cutoff] if cutoff < history.last_sequence else None
    return _ends_something(last, following) and not _leaves_open(history, cutoff)


def _boundary_before(state: SessionState, cutoff: int) -> int:
    earlier = range(min(cutoff - 1, state.history.last_sequence), 0, -1)
    return next((at for at in earlier if is_completed_boundary(state, at)), 0)


def _ends_something(last: Fact, following: Fact | None) -> bool:
    if isinstance(last.payload, RunFact):
        return last.payload.status is not RunStatus.STARTED
    if last.run_id is None:
        return True
    return last.step_id is not None and following is not None and following.step_id != last.step_id


def _leaves_open(history: History, cutoff: int) -> bool:
    open_items = set[str]()
    for fact in history[:cutoff]:
        match fact.payload:
            case ToolCall(id=call_id):
                open_items.add(call_id)
            case ToolResult(call_id=call_id):
                open_items.discard(call_id)
            case ModelAttempt(attempt_id=attempt_id, status=AttemptStatus.STARTED):
                open_items.add(attempt_id)
            case ModelAttempt(attempt_id=attempt_id):
                open_items.discard(attempt_id)
            case _:
                pass
    return bool(open_items)


class _Renaming:
    """Gives the subjects of copied facts identities of the child's own, the same each time."""

    def __init__(self, session_id: SessionId) -> None:
        self._session_id = session_id
        self._numbers = itertools.count(1)
        self._names: dict[tuple[str, str], str] = {}

    def _new(self, kind: str, old: Identity) -> Identity:
        name = self._names.get((kind, old))
        if name is None:
            name = self._names[kind, old] = f"{self._session_id}.{next(self._numbers)}"
        return type(old)(name)

    def copy(self, fact: Fact) -> Fact:
        """The child's copy of a fact; the store numbers it."""
        return Fact(
            self._session_id,
            fact.sequence,
            None if fact.run_id is None else self._new("run", fact.run_id),
            None if fact.step_id is None else self._new("step", fact.step_id),
            fact.at,
            fact.actor,
            self._payload(fact.payload),
            fact.id,
        )

    def _payload(self, payload: Payload) -> Payload:
        match payload:
            case Message():
                return self._message(payload)
            case ToolCall():
                return replace(
                    payload,
                    id=self._new("call", payload.id),
                    message_id=self._new("message", payload.message_id),
                    run_id=self._new("run", payload.run_id),
                    step_id=self._new("step", payload.step_id),
                )
            case ToolResult():
                return replace(payload, call_id=self._new("call", payload.call_id))
            case ModelAttempt():
                return replace(
                    payload,
                    attempt_id=self._new("attempt", payload.attempt_id),
                    run_id=self._new("run", payload.run_id),
                    step_id=self._new("step", payload.step_id),
                )
            case ContextContribution():
                return replace(
                    payload,
                    run_id=self._new("run", payload.run_id),
                    step_id=self._new("step", payload.step_id),
                    messages=tuple(self._message(message) for message in payload.messages),
                )
            case RunLimitExceeded():
                return replace(
                    payload,
                    run_id=self._new("run", payload.run_id),
                    step_id=self._new("step", payload.step_id),
                )
            case RunFact() | RunBudgetExceeded():
                return replace(payload, run_id=self._new("run", payload.run_id))
            case ModelConfigChanged():
                return payload

    def _message(self, message: Message) -> Message:
        return replace(
            message,
            id=self._new("message", message.id),
            run_id=None if message.run_id is None else self._new("run", message.run_id),
            step_id=None if message.step_id is None else self._new("step", message.step_id),
        )


def start_from_summary(
    session_id: SessionId,
    messages: Sequence[MessageInput],
    *,
    agent: AgentId,
    workspace: WorkspaceId,
    now: datetime,
    model_config: ModelConfig | None = None,
    source: SessionState | None = None,
    actor: Actor = SERVICE_ACTOR,
) -> NewSession:
    """What a store needs to create a Session that begins with what somebody made of another.

    Args:
        session_id: identity of the new Session.
        messages: what it begins with, as user messages of no Run; at least one.
        agent: whose Session it is.
        workspace: where it belongs.
        now: time of the messages.
        model_config: its model; without one, the source's.
        source: the Session that was summarized, if there is one; it becomes the parent.
        actor: who wrote the summary.

    Raises:
        ClassifiedError: `invalid_input/invalid_summary`: no messages, or no model.
    """
    config = model_config or (source.model_config if source else None)
    if not messages or config is None:
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "invalid_summary",
            "a summary start needs a message, and a model or a source that has one",
        )
    lineage = Lineage(source.id, source.revision, 0) if source else None
    empty = NewSession(session_id, agent, workspace, config, lineage)
    return followed_by(empty, messages, now=now, actor=actor)
