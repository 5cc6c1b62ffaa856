"""History in pages of whole steps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.session import (
    AppendMessage,
    AppendRun,
    ClassifiedError,
    Message,
    MessageId,
    ModelConfig,
    Role,
    RunFact,
    RunId,
    RunStatus,
    SessionState,
    SetModelConfig,
    StepId,
    TextPart,
    history_page,
)
from tests.session.scenario import MODEL, START, advance, idle, user


def history(runs: list[list[int]], *, switch: bool = False) -> SessionState:
    """Runs of steps of so many messages each."""
    state = idle()
    for r, steps in enumerate(runs):
        run = RunId(f"run-{r}")
        if switch:
            other = ModelConfig("x", f"m{r}")
            state = advance(state, [SetModelConfig(other)], [SetModelConfig(MODEL)])
        start = RunFact(run, RunStatus.STARTED, MODEL, state.revision)
        end = RunFact(run, RunStatus.COMPLETED, MODEL, state.revision)
        state = advance(state, [AppendRun(start)])
        for s, count in enumerate(steps):
            for m in range(count):
                message = Message(
                    MessageId(f"{r}.{s}.{m}"),
                    Role.ASSISTANT,
                    (TextPart("x"),),
                    START,
                    run,
                    StepId(f"{r}.{s}"),
                )
                state = advance(state, [AppendMessage(message)])
        state = advance(state, [AppendRun(end)])
    return state


def sequences(state: SessionState, before: int = 0, limit: int = 0) -> tuple[list[int], bool]:
    facts, more = history_page(state.history, before_sequence=before, step_limit=limit)
    return [fact.sequence for fact in facts], more


def test_a_page_has_the_newest_steps_whole_and_their_run_facts() -> None:
    state = history([[2], [2, 1]])  # start 1, 2-3, end 4 | start 5, 6-7, 8, end 9
    assert sequences(state) == (list(range(1, 10)), False)
    assert sequences(state, limit=1) == ([8, 9], True)
    assert sequences(state, limit=2) == ([5, 6, 7, 8, 9], True)


def test_the_end_of_an_older_run_does_not_begin_a_page() -> None:
    state = history([[1], [1]])  # start 1, 2, end 3 | start 4, 5, end 6
    assert sequences(state, limit=1) == ([4, 5, 6], True)
    assert sequences(state, before=4, limit=1) == ([1, 2, 3], False)


def test_a_cursor_inside_a_step_goes_back_to_its_beginning() -> None:
    state = history([[1, 3]])  # start 1, 2, 3-5, end 6
    assert sequences(state, before=5) == ([1, 2], False)
    assert sequences(state, before=3) == ([1, 2], False)


def test_without_steps_a_page_has_so_many_facts() -> None:
    state = idle()
    for number in range(5):
        state = advance(state, [AppendMessage(user(f"u{number}", run=None))])
    assert sequences(state, limit=2) == ([4, 5], True)
    assert sequences(state, before=4, limit=2) == ([2, 3], True)


def test_an_empty_history_has_an_empty_page() -> None:
    assert sequences(idle()) == ([], False)


@pytest.mark.parametrize(("before", "limit"), [(0, 101), (0, -1), (-1, 1)])
def test_limits_out_of_range_are_refused(before: int, limit: int) -> None:
    with pytest.raises(ClassifiedError) as caught:
        sequences(idle(), before, limit)
    assert caught.value.code == "invalid_limit"


@given(
    st.lists(st.lists(st.integers(1, 3), max_size=3), max_size=4), st.integers(1, 5), st.booleans()
)
def test_pages_give_every_fact_once_and_split_no_step(
    runs: list[list[int]], limit: int, switch: bool
) -> None:
    state = history(runs, switch=switch)
    found: list[int] = []
    before, more = 0, True
    while more:
        facts, more = history_page(state.history, before_sequence=before, step_limit=limit)
        assert facts or not more
        steps = {fact.step_id for fact in facts} - {None}
        assert len(steps) <= limit
        older = state.history[: facts[0].sequence - 1 if facts else 0]
        assert not steps & {fact.step_id for fact in older}
        found = [fact.sequence for fact in facts] + found
        before = found[0] if found else 0
    assert found == list(range(1, len(state.history) + 1))
