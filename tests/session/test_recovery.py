"""What a crash leaves open, and how it is settled."""

from collections.abc import Sequence

import pytest

from agentslot.session import (
    AppendToolResult,
    Change,
    Delivery,
    ModelAttempt,
    RunFact,
    SessionState,
    ToolCallId,
    ToolResult,
    ToolStatus,
    recover,
)
from tests.session.scenario import (
    advance,
    attempt,
    calling,
    finished,
    idle,
    pending,
    queued,
    result,
    running,
)


def recovered(state: SessionState) -> SessionState:
    changes = recover(state)
    return advance(state, changes) if changes else state


def test_a_session_that_rests_needs_no_recovery() -> None:
    assert recover(idle()) == recover(finished()) == ()


def test_an_open_attempt_ends_with_an_unknown_outcome_and_the_run_is_interrupted() -> None:
    state = recovered(advance(running(), [attempt("t1")]))
    ended, end = (fact.payload for fact in state.history[-2:])
    assert isinstance(ended, ModelAttempt)
    assert (ended.status, ended.error_code) == ("outcome_unknown", "process_interrupted")
    assert isinstance(end, RunFact)
    assert end.status == "interrupted"
    assert end.termination is not None
    assert end.termination.source == "runtime"
    assert state.active_run is None


def test_a_pending_call_is_never_run_again() -> None:
    state = recovered(advance(calling("c1"), [pending("c1")]))
    outcome = state.history.result(ToolCallId("c1"))
    assert outcome == ToolResult(ToolCallId("c1"), ToolStatus.OUTCOME_UNKNOWN)
    assert state.active_run is None


def test_prepared_calls_keep_their_run_to_be_resumed() -> None:
    state = recovered(advance(calling("c1", "c2"), [pending("c1")]))
    assert state.active_run is not None
    assert list(state.journal) == ["c2"]
    assert state.history.result(ToolCallId("c1")) is not None


def test_a_run_between_results_and_the_next_request_is_interrupted() -> None:
    state = advance(calling("c1"), [pending("c1")], [AppendToolResult(result("c1"))])
    assert recovered(state).active_run is None


def test_steering_input_of_an_interrupted_run_is_held() -> None:
    waiting = [queued("q1", Delivery.STEER), queued("q2")]
    state = recovered(advance(running(), waiting))
    assert [item.delivery for item in state.queue] == ["held", "normal"]
    resumable = recovered(advance(calling("c1"), waiting))
    assert [item.delivery for item in resumable.queue] == ["steer", "normal"]


@pytest.mark.parametrize(
    "commits",
    [
        [[attempt("t9")]],
        [[pending("c1")]],
        [[pending("c1")], [pending("c2")], [attempt("t9")]],
        [[queued("q1", Delivery.STEER), pending("c2")]],
    ],
)
def test_a_second_recovery_changes_nothing(commits: Sequence[Sequence[Change]]) -> None:
    state = recovered(advance(calling("c1", "c2"), *commits))
    assert recover(state) == ()
