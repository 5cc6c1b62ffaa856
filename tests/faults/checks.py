"""What must hold of a Session whatever happened to the process that had it."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from agentslot.model import ModelRequest, Transcript
from agentslot.model.wires.attachments import NO_MEDIA
from agentslot.model.wires.openai_completions.encode import RequestEncoder
from agentslot.model.wires.openai_completions.profile import CompatibilityProfile
from agentslot.session import (
    AttemptStatus,
    ContextDisposition,
    ExtensionEffect,
    Fact,
    JournalStatus,
    Message,
    ModelAttempt,
    Role,
    RunFact,
    RunId,
    RunStatus,
    SessionId,
    SessionState,
    StepId,
    ToolCall,
    ToolResult,
    ToolStatus,
)
from agentslot.standardagent.context import rebuilt_request
from tests.faults.media import Medium
from tests.faults.stage import MODEL
from tests.faults.world import World, digest

NEVER_RAN = {
    "approval_denied",
    "approval_required",
    "invalid_arguments",
    "output_truncated",
    "policy_denied",
    "preflight_denied",
    "tool_batch_aborted",
    "tool_not_found",
    "tool_not_loaded",
}


def nothing_acknowledged_is_lost(world: World, state: SessionState) -> None:
    """What stores and receipts have promised is there."""
    promised = world.acknowledged[state.id]
    assert state.revision >= promised.revision
    assert digest(tuple(state.history[: promised.facts])) == promised.digest
    messages = {f.payload.id for f in state.history if isinstance(f.payload, Message)}
    queued = {item.message.id for item in state.queue}
    assert world.accepted.get(state.id, set()) <= messages | queued


def effects_happened_once(world: World, state: SessionState) -> None:
    """No call ran twice, none ran before that was recorded, and each result tells the truth."""
    assert world.violations == []
    assert {name: n for name, n in world.effects.items() if n > 1} == {}
    for result in results(state):
        ran = world.effects[result.call_id]
        if result.status is ToolStatus.SUCCEEDED and not copied(state, result):
            assert ran == 1
        elif result.error is not None and result.error.code in NEVER_RAN:
            assert ran == 0


def open_calls_were_settled(before: SessionState, after: SessionState) -> None:
    """Calls that a crash left open: pending ones are never run, prepared ones still can be."""
    for call_id, entry in before.journal.items():
        result = after.history.result(call_id)
        assert result is not None
        unknown = result.status is ToolStatus.OUTCOME_UNKNOWN
        assert unknown is (entry.status is JournalStatus.PENDING)


def history_is_whole(state: SessionState) -> None:
    """An idle Session: numbered without a gap, and nothing in it is unfinished."""
    history = state.history
    assert [fact.sequence for fact in history] == list(range(1, len(history) + 1))
    assert all(earlier.at <= later.at for earlier, later in pairwise(own_facts(state)))
    assert (state.active_run, dict(state.journal)) == (None, {})
    # What hooks have said may wait for a message that is queued, or for the next Run: nothing else.
    assert {(e.effect, e.context) for e in state.extensions.open.values()} <= {
        (ExtensionEffect.APPLIED, ContextDisposition.PENDING)
    }
    runs = [f.payload for f in own_facts(state) if isinstance(f.payload, RunFact)]
    for started, ended in zip(runs[::2], runs[1::2], strict=True):
        assert started.status is RunStatus.STARTED
        assert ended.status is not RunStatus.STARTED
        assert started.run_id == ended.run_id
    attempts = [f.payload for f in history if isinstance(f.payload, ModelAttempt)]
    started_ids = [a.attempt_id for a in attempts if a.status is AttemptStatus.STARTED]
    ended_ids = [a.attempt_id for a in attempts if a.status is not AttemptStatus.STARTED]
    assert sorted(started_ids) == sorted(ended_ids)
    assert len(set(started_ids)) == len(started_ids)


def hooks_are_settled(state: SessionState) -> None:
    """An idle Session waits for no hook; at most, what hooks have added waits for a message."""
    for entry in state.extensions.open.values():
        assert entry.effect is ExtensionEffect.APPLIED
        assert entry.context is ContextDisposition.PENDING
        message_id = entry.invocation.message_id
        assert message_id is None or state.queued(message_id) is not None


def history_can_be_sent(state: SessionState) -> None:
    """Calls follow their message and each has one result, before anything else is said."""
    open_calls: list[str] = []
    speaker: Message | None = None
    for fact in state.history:
        match fact.payload:
            case Message() as message:
                assert open_calls == []
                speaker = message
            case ToolCall() as call:
                assert speaker is not None
                assert (speaker.role, speaker.id) == (Role.ASSISTANT, call.message_id)
                open_calls.append(call.id)
            case ToolResult() as result:
                open_calls.remove(result.call_id)
            case _:
                pass
    assert open_calls == []
    visible = (Message, ToolCall, ToolResult)
    inputs = Transcript(f.payload for f in state.history if isinstance(f.payload, visible))
    _provider_accepts(ModelRequest(state.id, RunId("r"), StepId("s"), MODEL, "Be brief.", inputs))


def requests_can_be_made_again(state: SessionState) -> None:
    """Every request that is recorded."""
    newest = [] if state.context is None else [state.context]
    for view in (*state.retained_contexts, *newest):
        _provider_accepts(rebuilt_request(state, view))


def _provider_accepts(request: ModelRequest) -> None:
    """The order of calls and results, seen from a provider that is strict about it."""
    body = RequestEncoder(CompatibilityProfile()).encode(request, NO_MEDIA).body
    owed: list[str] = []
    messages: list[dict[str, Any]] = json.loads(body)["messages"]
    for message in messages:
        if message["role"] == "tool":
            owed.remove(message["tool_call_id"])
            continue
        assert owed == []
        if message["role"] == "assistant":
            assert message["content"] or message.get("tool_calls")
            owed = [call["id"] for call in message.get("tool_calls", [])]
            assert len(set(owed)) == len(owed)
    assert owed == []


def revisions_have_no_gap(commits: Sequence[tuple[int, str]]) -> None:
    """Every revision was made by one commit, each under a key of its own."""
    assert [revision for revision, _ in commits] == list(range(2, len(commits) + 2))
    assert len({key for _, key in commits}) == len(commits)


async def recovery_settles_at_once(medium: Medium, folder: Path, session_id: SessionId) -> None:
    """A second recovery, in this process or in the next, changes no byte."""
    async with medium.store(folder) as store:
        await store.recover(session_id)
        settled = medium.contents(folder)
        await store.recover(session_id)
        assert medium.contents(folder) == settled
    async with medium.store(folder) as store:
        await store.recover(session_id)
    assert medium.contents(folder) == settled


def results(state: SessionState) -> Sequence[ToolResult]:
    return [f.payload for f in state.history if isinstance(f.payload, ToolResult)]


def own_facts(state: SessionState) -> Sequence[Fact]:
    """Those that are no copies."""
    return [fact for fact in state.history if fact.origin_id is None]


def copied(state: SessionState, result: ToolResult) -> bool:
    return all(fact.payload is not result for fact in own_facts(state))
