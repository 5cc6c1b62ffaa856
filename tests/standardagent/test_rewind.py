"""Going back to an earlier point of a Session, and saying something else there."""

from typing import Any

import pytest

from agentslot.interaction import ChannelSession
from agentslot.session import ClassifiedError, Message, MessageId
from agentslot.tool import function_tool
from tests.standardagent.agents import agent, answer, call, calls


@function_tool
async def look() -> str:
    """Look."""
    return "seen"


async def said(session: ChannelSession) -> list[str]:
    facts = (await session.view()).recent_history
    return [fact.payload.text for fact in facts if isinstance(fact.payload, Message)]


async def told(session: ChannelSession) -> Any:
    """The id of the first user message."""
    facts = (await session.view()).recent_history
    return next(fact.payload.id for fact in facts if isinstance(fact.payload, Message))


async def test_rewinding_takes_the_last_message_back_and_keeps_the_branch_that_was_left() -> None:
    async with agent([answer("one"), answer("two"), answer("three")]) as a:
        await a.send_and_wait("first")
        await a.send_and_wait("second")
        branch = await a.rewind()
        assert await said(branch) == ["first", "one"]
        assert await said(a.session) == ["first", "one", "second", "two"]
        assert (await branch.send_and_wait("another")).text == "three"


async def test_a_retry_says_something_else_in_the_place_of_a_message() -> None:
    async with agent([answer("one"), answer("two"), answer("three")]) as a:
        await a.send_and_wait("first")
        await a.send_and_wait("second")
        branch, result = await a.retry_with("better", before=await told(a.session))
        assert result.text == "three"
        assert result.session_id == branch.id
        assert await said(branch) == ["better", "three"]


async def test_the_model_is_told_of_the_branch_that_was_left_if_somebody_summed_it_up() -> None:
    async with agent([calls(call("look")), answer("bad"), answer("good")], tools=[look]) as a:
        await a.send_and_wait("first")
        _, result = await a.retry_with("again", summary="Looking did not help.")
        assert result.text == "good"
        inputs = a.executor.requests[-1].inputs
        texts = [each.text for each in inputs if isinstance(each, Message)]
        assert len(texts) == 2
        assert "<branch_summary>\nLooking did not help.\n</branch_summary>" in texts[0]
        assert texts[1] == "again"


async def test_a_long_session_is_searched_page_by_page() -> None:
    script = [answer(str(number)) for number in range(121)]
    async with agent(script) as a:
        for number in range(120):
            await a.send_and_wait(f"message {number}")
        first = (await a.history(before_sequence=6)).facts
        opening = next(f.payload.id for f in first if isinstance(f.payload, Message))
        assert await said(await a.rewind(opening)) == []
        assert (await a.retry_with("go on"))[1].text == "120"


async def test_what_cannot_be_taken_back_is_named() -> None:
    async with agent([answer("one")]) as a:
        with pytest.raises(ClassifiedError, match="no message that began a run"):
            await a.rewind()
        await a.send_and_wait("first")
        with pytest.raises(ClassifiedError, match="no user message 'gone'") as caught:
            await a.rewind(MessageId("gone"))
        assert caught.value.code == "message_not_found"


async def test_a_message_that_joined_a_run_can_be_taken_back_at_a_step() -> None:
    async with agent([calls(call("gate")), answer("done"), answer("else")], gated=True) as a:
        await a.send("first")
        await a.gate.entered()
        receipt = await a.steer("and that")
        a.gate.open()
        await a.when_idle()
        branch, result = await a.retry_with("or this", before=receipt.message_id)
        assert (await said(branch))[-2:] == ["or this", "else"]
        assert result.text == "else"
