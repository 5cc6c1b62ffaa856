"""Forks, prefixes and summary starts."""

import pytest

from agentslot.session import (
    AppendContextContribution,
    AppendMessage,
    AppendToolResult,
    ClassifiedError,
    ContextContribution,
    ForkMode,
    Message,
    MessageInput,
    ModelConfig,
    RunId,
    SessionId,
    SessionState,
    ToolCall,
    ToolResult,
    WorkspaceId,
    create,
    fork,
    is_completed_boundary,
    start_from_summary,
)
from tests.session.scenario import (
    RUN,
    START,
    STEP,
    advance,
    at,
    calling,
    finished,
    idle,
    pending,
    queued,
    result,
    run_ended,
    run_started,
    running,
    user,
)

CHILD = SessionId("child")


def child_of(source: SessionState, cutoff: int | None = None) -> SessionState:
    if cutoff is None:
        return create(fork(source, CHILD), at(500))
    return create(fork(source, CHILD, mode=ForkMode.HISTORY_PREFIX, cutoff=cutoff), at(500))


def test_a_full_fork_copies_all_facts_under_identities_of_its_own() -> None:
    source = advance(finished(), [queued("q1")])
    child = child_of(source)
    assert [fact.kind for fact in child.history] == [fact.kind for fact in source.history]
    assert [fact.origin_id for fact in child.history] == [fact.id for fact in source.history]
    assert [fact.at for fact in child.history] == [fact.at for fact in source.history]
    assert (child.revision, child.queue, child.active_run) == (1, (), None)
    assert child.lineage is not None
    assert (child.lineage.parent, child.lineage.parent_revision) == (source.id, source.revision)
    assert child.lineage.copied == len(source.history)
    old = {fact.run_id for fact in source.history} | {fact.step_id for fact in source.history}
    new = {fact.run_id for fact in child.history} | {fact.step_id for fact in child.history}
    assert old & new <= {None}


def test_references_between_copied_facts_still_hold() -> None:
    child = child_of(finished())
    (call,) = [f.payload for f in child.history if isinstance(f.payload, ToolCall)]
    (outcome,) = [f.payload for f in child.history if isinstance(f.payload, ToolResult)]
    assert outcome.call_id == call.id
    owner = child.history.message(call.message_id)
    assert owner is not None
    assert (owner.run_id, owner.step_id) == (call.run_id, call.step_id)


def test_messages_inside_context_contributions_are_renamed_too() -> None:
    note = ContextContribution(RUN, STEP, "clock", (user("noon"),))
    child = child_of(advance(running(), [AppendContextContribution(note)], [run_ended(1)]))
    payload = child.history[2].payload
    assert isinstance(payload, ContextContribution)
    assert payload.messages[0].run_id == child.history[2].run_id != RUN
    assert payload.messages[0].id != "noon"


def test_a_running_session_is_forked_by_prefix_only() -> None:
    with pytest.raises(ClassifiedError) as caught:
        fork(running(), CHILD)
    assert caught.value.code == "active_run"
    assert len(child_of(running(), 0).history) == 0


@pytest.mark.parametrize("cutoff", [-1, 2, 3, 10_000])
def test_a_cutoff_in_the_middle_names_the_nearest_place_before_it(cutoff: int) -> None:
    with pytest.raises(ClassifiedError, match="the nearest before it is") as caught:
        child_of(idle(), cutoff)
    nearest = int(str(caught.value.message).rpartition(" ")[2])
    assert nearest < cutoff or nearest == 0
    assert len(child_of(idle(), nearest).history) == nearest
    for between in range(nearest + 1, min(cutoff, idle().history.last_sequence + 1)):
        with pytest.raises(ClassifiedError):
            child_of(idle(), between)


def test_a_full_fork_takes_no_cutoff() -> None:
    with pytest.raises(ClassifiedError) as caught:
        fork(idle(), CHILD, cutoff=1)
    assert caught.value.code == "invalid_cutoff"


def test_a_prefix_ends_behind_a_finished_step_or_run_only() -> None:
    source = finished()  # run, message, attempt, attempt, answer, call, result | answer | run end
    boundaries = [n for n in range(12) if is_completed_boundary(source, n)]
    assert boundaries == [7, 8, 9]
    child = child_of(source, 7)
    assert child.history[-1].kind == "tool_result"
    assert child.active_run is None
    with pytest.raises(ClassifiedError, match="not the end of a finished"):
        child_of(source, 5)


def test_the_unfinished_tail_of_the_active_step_is_no_boundary() -> None:
    state = advance(calling("c1"), [pending("c1")], [AppendToolResult(result("c1"))])
    assert not is_completed_boundary(state, len(state.history))


def test_a_fork_of_a_fork_goes_on_where_a_run_was_cut() -> None:
    first = child_of(finished(), 7)
    first = advance(first, [run_started(first.revision, RunId("next"))])
    grandchild = create(
        fork(first, SessionId("grandchild"), mode=ForkMode.HISTORY_PREFIX, cutoff=7), at(600)
    )
    assert len(grandchild.history) == 7
    assert advance(grandchild, [run_started(1, RunId("other"))]).active_run


def test_scope_and_model_of_a_fork_can_be_chosen() -> None:
    other = ModelConfig("anthropic", "claude")
    new = fork(finished(), CHILD, workspace=WorkspaceId("elsewhere"), model_config=other)
    assert (new.agent, new.workspace, new.model_config) == ("agent", "elsewhere", other)


def test_a_long_history_is_forked_whole() -> None:
    source = idle()
    for number in range(300):
        source = advance(source, [AppendMessage(user(f"u{number}", run=None))])
    assert len(child_of(source).history) == 300


def test_a_summary_start_has_user_messages_of_no_run_and_names_its_source() -> None:
    source = finished()
    new = start_from_summary(
        CHILD,
        [MessageInput.of("what happened"), MessageInput.of("go on")],
        agent=source.agent,
        workspace=source.workspace,
        now=START,
        source=source,
    )
    child = create(new, START)
    messages = [f.payload for f in child.history if isinstance(f.payload, Message)]
    assert [(m.text, m.role, m.run_id) for m in messages] == [
        ("what happened", "user", None),
        ("go on", "user", None),
    ]
    assert child.lineage is not None
    assert (child.lineage.parent, child.lineage.copied) == (source.id, 0)
    assert child.model_config == source.model_config
    assert len(create(fork(child, SessionId("grandchild")), at(1)).history) == 2


def test_a_summary_start_needs_a_message_and_a_model() -> None:
    for messages, source in (([], finished()), ([MessageInput.of("x")], None)):
        with pytest.raises(ClassifiedError) as caught:
            start_from_summary(
                CHILD,
                messages,
                agent=idle().agent,
                workspace=idle().workspace,
                now=START,
                source=source,
            )
        assert caught.value.code == "invalid_summary"
