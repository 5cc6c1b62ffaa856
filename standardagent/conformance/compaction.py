"""The referee of `context.compactor/v1`: a conversation that is too long is made to fit."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import anyio

from agentslot import Module
from agentslot._conformance import Suite, check, demand
from agentslot.interaction import ChannelSession
from agentslot.session import MessageInput
from agentslot.standardagent.config import AgentConfig
from agentslot.standardagent.conformance.asking import expect_end_when_cancelled, expect_no_change
from agentslot.standardagent.conformance.stage import Make, Stage, first, part, staged
from agentslot.standardagent.context import CONTEXT_COMPACTOR, CONTEXT_SOURCES, ContextInput

LIMIT_TOKENS = 10_000

_LONG = "hello " * 540  # about 800 tokens
_ORDERS = (*[_LONG] * 14, "call note look!", "goodbye")
"""About 11,000 tokens; calls come when the limit is passed already."""


class _Onlooker:
    """A source that remembers what it was shown, as a compactor would be."""

    key = "conformance.onlooker"

    def __init__(self, *adds: MessageInput) -> None:
        self.contexts: list[ContextInput] = []
        self._adds = adds

    async def contribute(self, context: ContextInput) -> Sequence[MessageInput]:
        """Add what it was told to add."""
        self.contexts.append(context)
        return self._adds


@asynccontextmanager
async def _talking(
    make: Make, onlooker: _Onlooker, sessions: int = 1
) -> AsyncGenerator[tuple[Stage, list[str]]]:
    """A stage on which conversations became too long, and the codes that their Runs ended with."""
    watching = Module("conformance.onlooker", CONTEXT_SOURCES.append(onlooker))
    config = AgentConfig(hard_token_limit=LIMIT_TOKENS)
    codes: list[str] = []

    async def talk(session: ChannelSession) -> None:
        for order in _ORDERS:
            result = await session.send_and_wait(order)
            codes.append("" if result.termination is None else result.termination.code)

    async with staged(part(CONTEXT_COMPACTOR, make), watching, config=config) as stage:
        brought = stage.assembly.get(CONTEXT_COMPACTOR) is not None
        demand(brought, f"it brings nothing for the slot {CONTEXT_COMPACTOR.id}")
        async with anyio.create_task_group() as tasks:
            for session in [await stage.session() for _ in range(sessions)]:
                tasks.start_soon(talk, session)
        yield stage, codes


@check
async def a_conversation_that_is_too_long_is_made_to_fit(make: Make) -> None:
    """What it keeps, with what it puts in place of the rest, is within the limit."""
    async with _talking(make, _Onlooker()) as (_, codes):
        over = codes.count("context_limit_exceeded")
        demand(not over, f"{over} requests were longer than {LIMIT_TOKENS} tokens all the same")


@check
async def what_it_keeps_can_be_sent(make: Make) -> None:
    """It begins with a message, no call is parted from its result, and no source is cut off."""
    for adds in ((), (MessageInput.of("It is noon."),)):
        async with _talking(make, _Onlooker(*adds)) as (stage, _):
            stage.expect_no_complaints()


@check
async def sessions_at_the_same_time_do_not_disturb_each_other(make: Make) -> None:
    """One compactor is asked for all Sessions: it fails with others no more than alone."""
    async with _talking(make, _Onlooker()) as (stage, _):
        alone = list(stage.complaints)
    async with _talking(make, _Onlooker(), sessions=3) as (stage, _):
        demand(bool(alone) or not stage.complaints, first(stage.complaints))


@check
async def it_leaves_the_conversation_alone(make: Make) -> None:
    """History is not shortened, only what one request shows of it."""
    onlooker = _Onlooker()
    async with _talking(make, onlooker) as (stage, _):
        for context in onlooker.contexts[-3:]:
            compact = partial(stage.assembly[CONTEXT_COMPACTOR].compact, context)
            await expect_no_change(context, compact)


@check
async def a_question_that_is_cancelled_ends(make: Make) -> None:
    """The cancellation of the Run is let pass."""
    onlooker = _Onlooker()
    async with _talking(make, onlooker) as (stage, _):
        compactor = stage.assembly[CONTEXT_COMPACTOR]
        await expect_end_when_cancelled(partial(compactor.compact, onlooker.contexts[-1]))


CONTEXT_COMPACTOR_SUITE: Suite[Make] = Suite(
    "context.compactor/v1",
    (
        a_conversation_that_is_too_long_is_made_to_fit,
        what_it_keeps_can_be_sent,
        sessions_at_the_same_time_do_not_disturb_each_other,
        it_leaves_the_conversation_alone,
        a_question_that_is_cancelled_ends,
    ),
)
