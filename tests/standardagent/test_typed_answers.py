"""Answers as values of a type: asked for, validated, asked for again, or refused."""

from typing import Literal, assert_type

import pytest
from pydantic import BaseModel

from agentslot.interaction import AnswerInvalidError, ChannelSession, RunNotCompletedError
from agentslot.session import Message, RunStatus
from tests.standardagent.agents import agent, answer


class City(BaseModel):
    name: str
    people: int


async def test_an_answer_of_the_wanted_type_comes_back_as_a_value() -> None:
    async with agent([answer('{"name": "Ulm", "people": 126000}')]) as session:
        typed = await session.send_and_wait("Which city?", output=City)
        asked = session.executor.requests[0].inputs[-1]
    assert typed.value == City(name="Ulm", people=126000)
    assert typed.result.status is RunStatus.COMPLETED
    assert isinstance(asked, Message)
    assert "people" in asked.text


@pytest.mark.parametrize("around", ["{}", "Here it is:\n\n{}\n\nAnything else?\n", "  {}  "])
async def test_an_answer_in_a_fence_is_understood(around: str) -> None:
    fenced = '```json\n{"name": "Ulm", "people": 1}\n```'
    async with agent([answer(around.format(fenced))]) as session:
        assert (await session.send_and_wait("?", output=City)).value.people == 1


async def test_of_two_fences_none_is_the_answer() -> None:
    fenced = '```\n{"name": "Ulm", "people": 1}\n```\nor\n```\n{"name": "Bonn", "people": 2}\n```'
    async with agent([answer(fenced), answer('{"name": "Ulm", "people": 1}')]) as session:
        typed = await session.send_and_wait("?", output=City)
    assert len(typed.earlier) == 1


async def test_a_wrong_answer_is_asked_for_again_with_what_is_wrong() -> None:
    script = [answer('{"name": "Ulm"}'), answer('{"name": "Ulm", "people": 2}')]
    async with agent(script) as session:
        typed = await session.send_and_wait("Which city?", output=City)
        correction = session.executor.requests[1].inputs[-2]
    assert typed.value.people == 2
    assert [each.text for each in typed.earlier] == ['{"name": "Ulm"}']
    assert typed.usage.total == 2 * typed.result.usage.total > 0
    assert typed.cost_usd is None
    assert isinstance(correction, Message)
    assert "people: Field required" in correction.text


@pytest.mark.parametrize(
    "text", ["no JSON at all", '{"name": "U", "people": 1, "people": 2}', "[]", ""]
)
async def test_after_the_allowed_tries_it_fails_with_what_was_wrong(text: str) -> None:
    async with agent([answer(text or " "), answer(text or " ")]) as session:
        with pytest.raises(AnswerInvalidError) as caught:
            await session.send_and_wait("Which city?", output=City)
        assert len(session.executor.requests) == 2
    assert caught.value.problems
    assert caught.value.code == "answer_invalid"


async def test_a_run_that_does_not_complete_is_not_asked_again() -> None:
    async with agent([]) as session:
        with pytest.raises(AnswerInvalidError) as caught:
            await session.send_and_wait("Which city?", output=City)
    assert caught.value.result.status is RunStatus.FAILED
    assert caught.value.problems == ()


async def test_plain_types_are_fine_too() -> None:
    async with agent([answer("[1, 2, 3]")]) as session:
        assert (await session.send_and_wait("Count.", output=list[int])).value == [1, 2, 3]


async def test_any_type_that_pydantic_knows_is_a_type_of_an_answer() -> None:
    async with agent([answer('"yes"'), answer('{"value": null}')]) as started:
        session: ChannelSession = started.session
        certain = await session.send_and_wait("Is it?", output=Literal["yes", "no"])
        assert assert_type(certain.value, Literal["yes", "no"]) == "yes"
        found = await session.send_and_wait("Which city?", output=City | None)
        assert assert_type(found.value, City | None) is None


async def test_a_result_raises_what_kept_its_run_from_completing() -> None:
    async with agent([answer("4")]) as session:
        done = await session.send_and_wait("What is 2+2?")
        assert done.raise_for_status() is done
        failed = await session.send_and_wait("And 3+3?")
        with pytest.raises(RunNotCompletedError) as caught:
            failed.raise_for_status()
    assert failed.termination is not None
    assert caught.value.message == f"run failed: {failed.termination.message}"
    assert (caught.value.kind, caught.value.code) == (
        failed.termination.kind,
        failed.termination.code,
    )
    assert (caught.value.session_id, caught.value.run_id) == (session.id, failed.run_id)
