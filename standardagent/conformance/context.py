"""The referee of `context.source/v1`: what a source adds to requests, and what it leaves alone."""

from collections.abc import Sequence
from functools import partial

import anyio

from agentslot import Module
from agentslot._conformance import Suite, check, demand
from agentslot.session import MessageInput, RunStatus
from agentslot.standardagent.conformance.asking import expect_end_when_cancelled, expect_no_change
from agentslot.standardagent.conformance.stage import Make, Stage, first, part, staged
from agentslot.standardagent.context import CONTEXT_SOURCES, ContextInput


class _Onlooker:
    """A source that adds nothing and remembers what it was shown."""

    key = "conformance.onlooker"

    def __init__(self) -> None:
        self.contexts: list[ContextInput] = []

    async def contribute(self, context: ContextInput) -> Sequence[MessageInput]:
        """Add nothing."""
        self.contexts.append(context)
        return ()


async def _talk(stage: Stage, number: int) -> None:
    session = await stage.session()
    for order in ("hello", "call note look!", f"goodbye from {number}"):
        await session.send_and_wait(order)
        await stage.expect_end(session, RunStatus.COMPLETED)


async def _complaints(make: Make, sessions: int) -> list[str]:
    """What the log has against the source, when so many Sessions ask it at the same time."""
    async with staged(part(CONTEXT_SOURCES, make)) as stage:
        stage.subjects(CONTEXT_SOURCES)
        try:
            async with anyio.create_task_group() as tasks:
                for number in range(sessions):
                    tasks.start_soon(_talk, stage, number)
        except ExceptionGroup:
            demand(bool(stage.complaints), "a Run did not complete with it")
        return stage.complaints


@check
async def it_has_one_key(make: Make) -> None:
    """The key is a part of the record: it stays the same, also in the next process."""
    keys: list[str] = []
    for _ in range(2):
        async with staged(part(CONTEXT_SOURCES, make)) as stage:
            sources = stage.subjects(CONTEXT_SOURCES)
            keys.append(", ".join(source.key for source in sources))
            again = ", ".join(source.key for source in sources)
            demand(again == keys[-1], f"it is {keys[-1]!r} and then {again!r}")
    demand(keys[0] == keys[1], f"it is {keys[0]!r}, and in the next process {keys[1]!r}")


@check
async def it_adds_messages_or_nothing(make: Make) -> None:
    """It fails at no request: one that it fails at is not sent, and the Run fails."""
    complaints = await _complaints(make, 1)
    demand(not complaints, first(complaints))


@check
async def sessions_at_the_same_time_do_not_disturb_each_other(make: Make) -> None:
    """One source is asked for all Sessions: it fails with others no more than alone."""
    alone, together = await _complaints(make, 1), await _complaints(make, 3)
    demand(bool(alone) or not together, first(together))


@check
async def it_leaves_the_conversation_alone(make: Make) -> None:
    """What it is shown is shared with whoever is asked next."""
    onlooker = _Onlooker()
    watching = Module("conformance.onlooker", CONTEXT_SOURCES.append(onlooker))
    async with staged(watching, part(CONTEXT_SOURCES, make)) as stage:
        await (await stage.session()).send_and_wait("call note look!")
        for source in stage.subjects(CONTEXT_SOURCES):
            for context in onlooker.contexts:
                await expect_no_change(context, partial(source.contribute, context))


@check
async def a_question_that_is_cancelled_ends(make: Make) -> None:
    """The cancellation of the Run is let pass."""
    onlooker = _Onlooker()
    watching = Module("conformance.onlooker", CONTEXT_SOURCES.append(onlooker))
    async with staged(watching, part(CONTEXT_SOURCES, make)) as stage:
        await (await stage.session()).send_and_wait("hello")
        for source in stage.subjects(CONTEXT_SOURCES):
            await expect_end_when_cancelled(partial(source.contribute, onlooker.contexts[0]))


CONTEXT_SOURCE_SUITE: Suite[Make] = Suite(
    "context.source/v1",
    (
        it_has_one_key,
        it_adds_messages_or_nothing,
        sessions_at_the_same_time_do_not_disturb_each_other,
        it_leaves_the_conversation_alone,
        a_question_that_is_cancelled_ends,
    ),
)
