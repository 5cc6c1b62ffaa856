"""Facts that a new Session starts with: the copies of a fork, or the messages of a summary.

They pass the same rules as if they were committed one by one, with two exceptions: a copied Run
keeps the model that it had then, and a Run whose end was not copied is over all the same.
"""

from collections.abc import Sequence
from dataclasses import replace

from agentslot.session.changes import (
    AppendAttempt,
    AppendBudgetExceeded,
    AppendContextContribution,
    AppendLimitExceeded,
    AppendMessage,
    AppendRun,
    AppendToolCall,
    AppendToolResult,
    MarkToolPending,
)
from agentslot.session.draft import Draft
from agentslot.session.errors import ClassifiedError
from agentslot.session.facts import (
    ContextContribution,
    Fact,
    ModelAttempt,
    ModelConfigChanged,
    RunBudgetExceeded,
    RunFact,
    RunLimitExceeded,
    RunStatus,
)
from agentslot.session.identity import SERVICE_ACTOR
from agentslot.session.message import Message
from agentslot.session.modelconfig import ModelConfig
from agentslot.session.refusal import invalid_change
from agentslot.session.rules import run, transcript
from agentslot.session.state import SessionState
from agentslot.session.text import require_unicode
from agentslot.session.toolcall import ToolCall, ToolResult, ToolStatus

# Facts are tried in batches, since a draft looks through what it has appended itself.
_BATCH = 64


def start_with(empty: SessionState, facts: tuple[Fact, ...], copied: int) -> SessionState:
    """The new Session at revision 1 with these facts, of which the first `copied` are copies."""
    if copied > len(facts):
        raise invalid_change(f"lineage says {copied} copied facts, {len(facts)} are given")
    draft = Draft(empty, SERVICE_ACTOR, empty.created_at)
    for position, fact in enumerate(facts):
        if len(draft.facts) >= _BATCH and not draft.owing:
            draft.next_commit()
        if position < copied:
            _start_with_copy(draft, fact)
        else:
            _start_with_message(draft, fact)
    _abandon_run(draft)
    draft.now = empty.created_at
    return replace(draft.finished(), revision=1)


def fitting(empty: SessionState, facts: Sequence[Fact]) -> tuple[int, int, str]:
    """How many facts make a Session, how many of these leave nothing open, and what is wrong then.

    No Session can have the fact behind the ones that fit. One can start with copies of those that
    leave neither a call nor a request to a model open.
    """
    draft = Draft(empty, SERVICE_ACTOR, empty.created_at)
    settled = 0
    for position, fact in enumerate(facts):
        try:
            if len(draft.facts) >= _BATCH and not draft.owing:
                draft.next_commit()
            if draft.run is not None and fact.run_id != draft.run.id:
                _abandon_run(draft)
            _readmit(draft, fact)
        except ClassifiedError as error:
            return position, settled, error.message
        requests = draft.run.open_attempts if draft.run is not None else ()
        if not (draft.journal or draft.owing or requests):
            settled = position + 1
    return len(facts), settled, ""


def _start_with_message(draft: Draft, fact: Fact) -> None:
    if not isinstance(fact.payload, Message) or fact.payload.run_id or fact.origin_id:
        raise invalid_change(
            "a Session starts with copies that name their origin, then with user messages of no Run"
        )
    _abandon_run(draft)
    _readmit(draft, fact)


def _start_with_copy(draft: Draft, fact: Fact) -> None:
    if fact.origin_id is None:
        raise invalid_change(f"copied fact {fact.sequence} does not name its origin")
    require_unicode(fact.origin_id, f"the origin of fact {fact.sequence}")
    if draft.run is not None and fact.run_id != draft.run.id:
        _abandon_run(draft)
    _readmit(draft, fact)


def _abandon_run(draft: Draft) -> None:
    run.require_settled(draft, "the copied history leaves its run")
    draft.run = None


def _readmit(draft: Draft, fact: Fact) -> None:
    """Append the payload by the rule of its kind, with the time and actor it had."""
    draft.now, draft.actor, draft.origin_id = fact.at, fact.actor, fact.origin_id
    require_unicode(fact.actor.id, f"the actor of fact {fact.sequence}")
    match fact.payload:
        case RunFact(status=RunStatus.STARTED) as started:
            _check_config(fact, started.config)
            run.begin(draft, started)
            draft.append(started, started.run_id)
        case RunFact() as ended:
            run.append_run(draft, AppendRun(ended))
        case Message() as message:
            transcript.append_message(draft, AppendMessage(message))
        case ToolCall() as call:
            transcript.append_tool_call(draft, AppendToolCall(call))
        case ToolResult() as result:
            if result.status is ToolStatus.OUTCOME_UNKNOWN:
                transcript.mark_tool_pending(draft, MarkToolPending(result.call_id))
            transcript.append_tool_result(draft, AppendToolResult(result))
        case ModelAttempt() as attempt:
            run.append_attempt(draft, AppendAttempt(attempt))
        case ContextContribution() as contribution:
            run.append_context_contribution(draft, AppendContextContribution(contribution))
        case RunBudgetExceeded() as budget:
            run.append_budget_exceeded(draft, AppendBudgetExceeded(budget))
        case RunLimitExceeded() as limit:
            run.append_limit_exceeded(draft, AppendLimitExceeded(limit))
        case ModelConfigChanged() as changed:
            _check_config(fact, changed.previous)
            _check_config(fact, changed.current)
            draft.append(changed, None)


def _check_config(fact: Fact, config: ModelConfig) -> None:
    for text in (config.provider, config.model, *config.stop_sequences):
        require_unicode(text, f"the model of fact {fact.sequence}")
