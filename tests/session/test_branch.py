"""Where a Session is cut to take a message back, and what the branch is told."""

from hypothesis import given
from hypothesis import strategies as st

from agentslot.session import (
    AppendMessage,
    ForkMode,
    Message,
    MessageId,
    MessageInput,
    RunId,
    SessionId,
    SessionState,
    branch_summary,
    create,
    followed_by,
    fork,
    rewind_cutoff,
)
from tests.session.scenario import START, advance, at, finished, idle, run_ended, run_started, user


def two_runs() -> SessionState:
    """Facts 1 to 9 are a Run with a tool; 10 to 12 a Run of one message."""
    state = finished()
    run = RunId("run-2")
    return advance(
        state,
        [run_started(state.revision, run), AppendMessage(user("u2", "again", run=run))],
        [run_ended(state.revision, run=run)],
    )


def test_the_last_message_that_began_a_run_is_taken_back() -> None:
    assert rewind_cutoff(two_runs().history) == 9


def test_an_earlier_message_can_be_taken_back_with_all_behind_it() -> None:
    assert rewind_cutoff(two_runs().history, MessageId("u1")) == 0


def test_a_message_of_no_run_is_taken_back_alone() -> None:
    state = advance(finished(), [AppendMessage(user("aside", run=None))])
    assert rewind_cutoff(state.history, MessageId("aside")) == 9
    assert rewind_cutoff(state.history) == 0


def test_a_message_that_is_not_there_is_not_found() -> None:
    assert rewind_cutoff(two_runs().history, MessageId("a1")) is None
    assert rewind_cutoff(idle().history) is None


@given(st.integers(0, 11))
def test_a_stretch_of_history_tells_the_same_or_nothing(start: int) -> None:
    history = two_runs().history
    for name in ("u1", "u2"):
        cutoff = rewind_cutoff(history[start:], MessageId(name))
        assert cutoff in (None, rewind_cutoff(history, MessageId(name)))


def test_every_cut_is_one_that_can_be_forked_at() -> None:
    source = two_runs()
    for name, kept in (("u1", 0), ("u2", 9)):
        cutoff = rewind_cutoff(source.history, MessageId(name))
        assert cutoff is not None
        new = fork(source, SessionId("child"), mode=ForkMode.HISTORY_PREFIX, cutoff=cutoff)
        assert len(create(new, START).history) == kept


def test_a_branch_summary_is_one_user_message_behind_the_copies() -> None:
    new = fork(finished(), SessionId("child"), mode=ForkMode.HISTORY_PREFIX, cutoff=7)
    child = create(followed_by(new, [branch_summary("Spaces did not work.")], now=at(9)), at(9))
    message = child.history[-1].payload
    assert isinstance(message, Message)
    assert (len(child.history), message.role, message.run_id) == (8, "user", None)
    assert child.lineage is not None
    assert child.lineage.copied == 7
    assert advance(child, [run_started(1, RunId("next"))]).active_run


def test_the_words_around_a_branch_summary_never_change() -> None:
    (part,) = branch_summary("It {failed}.").parts
    assert part.kind == "text"
    assert part.text == (
        "We went back to an earlier point of this conversation. This is what happened on the"
        " branch that we left; none of it is part of this conversation:\n"
        "\n"
        "<branch_summary>\n"
        "It {failed}.\n"
        "</branch_summary>"
    )


def test_messages_of_several_forks_have_ids_of_their_own() -> None:
    said = [MessageInput.of("one"), MessageInput.of("two")]
    first = create(followed_by(fork(finished(), SessionId("a")), said, now=START), START)
    second = create(followed_by(fork(first, SessionId("b")), said, now=START), START)
    ids = [f.payload.id for f in second.history if isinstance(f.payload, Message)]
    assert len(ids) == len(set(ids))
    assert len(second.history) == len(finished().history) + 4
