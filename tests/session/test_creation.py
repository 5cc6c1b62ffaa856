"""What a Session can start with."""

from dataclasses import replace

import pytest

from agentslot.session import (
    SERVICE_ACTOR,
    AgentId,
    AppendToolResult,
    ClassifiedError,
    Fact,
    FactId,
    Lineage,
    NewSession,
    SessionId,
    ToolStatus,
    create,
    fork,
)
from tests.session.scenario import (
    START,
    advance,
    calling,
    finished,
    new_session,
    pending,
    result,
    run_ended,
    user,
)

PARENT = Lineage(SessionId("parent"), 3, 1)
SEED = Fact(SessionId("x"), 1, None, None, START, SERVICE_ACTOR, user("u", run=None))
COPY = replace(SEED, origin_id=FactId("parent:fact:1"))


def refused(new: NewSession) -> str:
    with pytest.raises(ClassifiedError) as caught:
        create(new, START)
    return caught.value.code


@pytest.mark.parametrize(
    "new",
    [
        replace(new_session(), id=SessionId("")),
        replace(new_session(), agent=AgentId(" a")),
        replace(new_session(), lineage=Lineage(SessionId("s1"), 1, 0)),
        replace(new_session(), lineage=Lineage(SessionId("p"), 0, 0)),
        replace(new_session(), lineage=Lineage(SessionId("p"), 1, -1)),
        replace(new_session(), lineage=PARENT),
        replace(new_session(), lineage=PARENT, facts=(SEED,)),
        replace(new_session(), facts=(COPY,)),
        replace(new_session(), facts=(replace(SEED, payload=user("u")),)),
    ],
)
def test_what_makes_no_session_is_refused(new: NewSession) -> None:
    assert refused(new) == "invalid_change"


def test_copied_facts_pass_the_rules_of_the_aggregate() -> None:
    twice = replace(new_session(), lineage=replace(PARENT, copied=2), facts=(COPY, COPY))
    assert refused(twice) == "history_invariant"


def test_a_copied_history_may_not_end_in_the_middle_of_a_call_or_an_attempt() -> None:
    whole = fork(finished(), SessionId("child"))
    assert whole.lineage is not None
    for cut, code in ((6, "journal_invariant"), (3, "history_invariant")):
        lineage = replace(whole.lineage, copied=cut)
        assert refused(replace(whole, facts=whole.facts[:cut], lineage=lineage)) == code


def test_a_copied_history_keeps_what_was_unknown_and_who_did_it() -> None:
    source = advance(
        calling("c1"),
        [pending("c1")],
        [AppendToolResult(result("c1", ToolStatus.OUTCOME_UNKNOWN)), run_ended(1)],
    )
    child = create(fork(source, SessionId("child")), START)
    assert [fact.kind for fact in child.history] == [fact.kind for fact in source.history]
    assert child.created_at == child.updated_at == START
