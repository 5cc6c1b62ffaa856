"""What a crash leaves of hooks, and what children of a Session inherit of them: nothing."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.session import (
    AppendMessage,
    AppendToolResult,
    Change,
    ClassifiedError,
    ConsumeQueued,
    DeleteQueued,
    ExtensionBoundary,
    ExtensionDecision,
    InvocationStep,
    InvocationSucceeded,
    MessageId,
    SessionId,
    SessionState,
    create,
    fork,
    recover,
    start_from_summary,
)
from tests.session.extensions import (
    ACCEPTED,
    ALLOWED,
    APPLIED,
    BEGUN,
    CANCELED,
    CONSUMED,
    DISCARDED,
    FAILED,
    NOTE,
    UNKNOWN,
    asked,
    prepare,
    status,
    step,
)
from tests.session.scenario import (
    RUN,
    START,
    advance,
    assistant,
    calling,
    idle,
    pending,
    queued,
    result,
    running,
    user,
)

Boundary = ExtensionBoundary
NOTED = InvocationSucceeded(context=(NOTE,))
COMPLETE = InvocationSucceeded(ExtensionDecision.COMPLETE)
CONTINUE = InvocationSucceeded(ExtensionDecision.CONTINUE, context=(NOTE,))


def recovered(state: SessionState) -> SessionState:
    changes = recover(state)
    settled = advance(state, changes) if changes else state
    assert recover(settled) == ()
    return settled


def told(state: SessionState) -> list[str]:
    return [status(entry) for entry in state.extensions]


def answered() -> SessionState:
    """A Run whose model has answered without calls."""
    return advance(running(), [AppendMessage(assistant("a1"))])


@pytest.mark.parametrize(
    ("steps", "left"),
    [
        ((), "failed/discarded"),
        ((BEGUN,), "outcome_unknown/discarded"),
        ((BEGUN, ACCEPTED), "succeeded/discarded/discarded"),
        ((BEGUN, FAILED), "failed/discarded"),
    ],
)
def test_a_submission_that_was_not_decided_is_not_made(
    steps: Sequence[InvocationStep], left: str
) -> None:
    state = recovered(asked(Boundary.INPUT_GATE, *steps, state=idle()))
    assert told(state) == [left]
    assert not state.extensions.open


def test_a_context_waits_on_as_long_as_its_message_is_queued() -> None:
    def waiting(message: str) -> SessionState:
        state = advance(idle(), [queued("q1")])
        state = advance(state, prepare(state, Boundary.INPUT_GATE, "1", message=message))
        return advance(state, step(1, BEGUN, ACCEPTED, APPLIED))

    assert told(recovered(waiting("q1"))) == ["succeeded/applied/pending"]
    assert told(recovered(waiting("gone"))) == ["succeeded/applied/discarded"]
    dropped = advance(waiting("q1"), [DeleteQueued(MessageId("q1"))])
    assert told(recovered(dropped)) == ["succeeded/applied/discarded"]


@pytest.mark.parametrize(
    ("steps", "left"),
    [
        ((), "canceled/discarded"),
        ((BEGUN,), "outcome_unknown/discarded"),
        ((BEGUN, NOTED), "succeeded/discarded/discarded"),
        ((BEGUN, NOTED, APPLIED), "succeeded/applied/pending"),
    ],
)
def test_an_abandoned_opening_is_settled_and_a_finished_one_waits_for_the_next_run(
    steps: Sequence[InvocationStep], left: str
) -> None:
    assert told(recovered(asked(Boundary.SESSION_LIFECYCLE, *steps, state=idle()))) == [left]


def test_prepared_calls_keep_their_preflight_and_lose_the_answer_that_was_waited_for() -> None:
    state = recovered(asked(Boundary.TOOL_PREFLIGHT))
    assert told(state) == ["prepared"]
    assert state.active_run is not None
    state = recovered(asked(Boundary.TOOL_PREFLIGHT, BEGUN))
    assert told(state) == ["outcome_unknown/pending"]
    assert state.active_run is not None


def test_a_result_hook_is_never_asked_again() -> None:
    for steps, left in (
        ((), "canceled/discarded"),
        ((BEGUN,), "outcome_unknown/discarded"),
        ((BEGUN, NOTED), "succeeded/discarded/discarded"),
    ):
        state = advance(calling("c1"), [pending("c1")], [AppendToolResult(result("c1"))])
        state = recovered(asked(Boundary.TOOL_RESULT, *steps, state=state))
        assert told(state) == [left]
        assert state.active_run is None


def test_a_run_waits_for_its_completion_gates_unless_one_was_interrupted() -> None:
    for steps in ((), (BEGUN, COMPLETE), (BEGUN, CONTINUE)):
        state = recovered(asked(Boundary.COMPLETION, *steps, state=answered()))
        assert state.active_run is not None
    state = recovered(asked(Boundary.COMPLETION, BEGUN, state=answered()))
    assert told(state) == ["outcome_unknown/discarded"]
    assert state.active_run is None
    state = answered()
    state = advance(state, prepare(state, Boundary.COMPLETION, "1", "2"), step(1, BEGUN))
    state = recovered(state)
    assert told(state) == ["outcome_unknown/discarded", "canceled/discarded"]
    assert state.active_run is None


def test_children_start_with_an_empty_journal() -> None:
    state = asked(Boundary.INPUT_GATE, BEGUN, ACCEPTED, APPLIED, state=idle())
    assert len(create(fork(state, SessionId("child")), START).extensions) == 0
    summary = start_from_summary(
        SessionId("child"), [NOTE], agent=state.agent, workspace=state.workspace, now=START,
        source=state,
    )  # fmt: skip
    assert len(create(summary, START).extensions) == 0


STEPS: list[InvocationStep] = [
    BEGUN,
    ALLOWED,
    ACCEPTED,
    NOTED,
    COMPLETE,
    CONTINUE,
    FAILED,
    CANCELED,
    UNKNOWN,
    APPLIED,
    DISCARDED,
    CONSUMED,
]
CHANGES: list[list[Change]] = [
    [pending("c1")],
    [AppendToolResult(result("c1"))],
    [queued("q1")],
    [ConsumeQueued(MessageId("q1"), RUN), AppendMessage(user("q1"))],
]


@given(st.data())
def test_no_moment_is_bad_for_a_crash(data: st.DataObject) -> None:
    """Whatever a Session was about, one recovery settles it and a second finds nothing."""
    state = calling("c1")
    for number in range(12):
        choices = [
            *CHANGES,
            *(prepare(state, boundary, str(number)) for boundary in Boundary),
            *(
                step(s, each)
                for s in state.extensions.open
                for each in [*STEPS, DISCARDED, CONSUMED]
            ),
        ]
        try:
            state = advance(state, data.draw(st.sampled_from(choices)))
        except ClassifiedError:
            continue
    after = recovered(state)
    open_boundaries = {entry.invocation.boundary for entry in after.extensions.open.values()}
    if after.active_run is None:
        assert open_boundaries <= {Boundary.INPUT_GATE, Boundary.SESSION_LIFECYCLE}
