"""The map of the standard slots is consistent in itself."""

from dataclasses import replace

import pytest

from agentslot.componentcatalog import (
    CatalogInvalid,
    Component,
    Contract,
    Evidence,
    Kind,
    Maturity,
    Profile,
    at_least_contracted,
    counts,
    lookup,
    standard,
    validate,
)

ROW = Component("tool", "tool.new", Kind.ONE, "optional", "Does something.")
CONTRACT = Contract("agentslot.tool", "New", "NEW")
SUITE = Evidence("tool.new/v1", ("Ours",))


def test_there_are_46_standard_slots_in_9_domains() -> None:
    assert len(standard()) == 46
    assert len({row.domain for row in standard()}) == 9


def test_every_maturity_is_counted() -> None:
    assert list(counts()) == list(Maturity)
    assert sum(counts().values()) == len(standard())
    assert len(at_least_contracted()) == len(standard()) - counts()[Maturity.MAPPED]


def test_a_slot_is_looked_up_by_its_id() -> None:
    row = lookup("session.store")
    assert row is not None
    assert (row.kind, row.domain) == (Kind.ONE, "context")
    assert lookup("session.shop") is None


def test_five_slots_are_required_of_a_standard_agent() -> None:
    required = {row.id for row in standard() if row.profiles}
    assert required == {
        "agent.loop",
        "gateway.channel",
        "model.executor",
        "model.token-counter",
        "session.store",
    }


def test_whoever_asks_cannot_change_the_map() -> None:
    with pytest.raises(AttributeError):
        standard()[0].id = "other"  # type: ignore[misc]  # on purpose


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (replace(ROW, id="Tool"), "is no id of a slot"),
        (replace(ROW, purpose=""), "has no domain, rule or purpose"),
        (replace(ROW, contract=CONTRACT), "is mapped, so it has no contract"),
        (replace(ROW, maturity=Maturity.CONTRACTED), "is contracted, so it has a contract"),
        (replace(ROW, profiles=(Profile("standard-agent", 2),)), "cannot require 2 of it"),
        (
            replace(ROW, kind=Kind.MANY, profiles=(Profile("standard-agent", 0),)),
            "cannot require 0 of it",
        ),
        (
            replace(ROW, maturity=Maturity.CONFORMANT, contract=CONTRACT),
            "is conformant without a suite and what passed it",
        ),
        (
            replace(
                ROW,
                maturity=Maturity.PROVEN,
                contract=CONTRACT,
                evidence=replace(SUITE, independent=("Ours", "Ours")),
            ),
            "is proven without two independent implementations",
        ),
        (
            replace(
                ROW,
                maturity=Maturity.ASSEMBLED,
                contract=CONTRACT,
                evidence=replace(SUITE, independent=("Ours", "Theirs")),
            ),
            "is assembled without a place where it was exchanged",
        ),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(row: Component, problem: str) -> None:
    with pytest.raises(CatalogInvalid) as caught:
        validate([row])
    (found,) = caught.value.problems
    assert found.endswith(problem)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(CatalogInvalid) as caught:
        validate([ROW, replace(ROW, rule="")])
    assert len(caught.value.problems) == 2
    assert "'tool.new': stands more than once" in str(caught.value)
