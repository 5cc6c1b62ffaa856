"""Goals that Runs pursue: with decisions in a store of their own, which can be stopped, too."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio

from agentslot import Module
from agentslot.model.testing import calls_answer, text_answer
from agentslot.session import Goal, GoalReason, GoalStatus, Message, Role, SessionId
from agentslot.standardagent.goal import (
    GOAL_EVALUATOR,
    GOAL_STORE,
    DecisionRecord,
    FileGoals,
    GoalEvaluation,
    GoalQuestion,
    MemoryGoals,
    ModelGoalEvaluatorModule,
    RecordAttempts,
)
from tests.faults.hookscenarios import completion_gates, hooked
from tests.faults.parts import TearingOperations
from tests.faults.scenario import calling, scenario
from tests.faults.stage import Modules, Stage
from tests.faults.world import World

T = TypeVar("T")

INSTRUCTION = "Now the other half."


class StoppableGoals:
    """A goal store with a point before each write and before its answer."""

    def __init__(self, inner: FileGoals | MemoryGoals, world: World) -> None:
        self.inner = inner
        self._world = world

    async def current(self, session_id: SessionId) -> Goal | None:
        await self._world.pause("goal: read")
        return await self.inner.current(session_id)

    async def set(
        self, session_id: SessionId, objective: str, *, expected_version: int, max_follow_ons: int
    ) -> Goal:
        return await self._write(
            lambda: self.inner.set(
                session_id,
                objective,
                expected_version=expected_version,
                max_follow_ons=max_follow_ons,
            )
        )

    async def change_status(
        self, session_id: SessionId, status: GoalStatus, *, expected_version: int
    ) -> Goal:
        return await self._write(
            lambda: self.inner.change_status(session_id, status, expected_version=expected_version)
        )

    async def record_decision(self, record: DecisionRecord) -> Goal:
        return await self._write(lambda: self.inner.record_decision(record))

    async def _write(self, write: Callable[[], Awaitable[T]]) -> T:
        with self._world.noticing():
            await self._world.pause("goal: before the write")
            self._world.point("goal: before the write")
            answer = await write()
            self._world.point("goal: written, not acknowledged")
            await self._world.pause("goal: written, not acknowledged")
        return answer


class Judge:
    """Judges by what was said last."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> GoalEvaluation:
        del record
        await self._world.pause("the judge is asked")
        said = [
            each.text
            for each in question.transcript
            if isinstance(each, Message) and each.role is Role.ASSISTANT
        ]
        await self._world.pause("the judge answers")
        if said[-1] == "Half.":
            return GoalEvaluation.go_on(INSTRUCTION)
        if said[-1] == "Which one?":
            return GoalEvaluation.blocked(GoalReason.NEEDS_INPUT)
        return GoalEvaluation.done()


def goals(world: World) -> Sequence[Module]:
    """A store of goals beside the Sessions; in memory if these are, too."""
    operations = TearingOperations(world)
    kept = (
        None if world.folder is None else FileGoals(world.folder / "goals", operations=operations)
    )

    @asynccontextmanager
    async def lifespan() -> AsyncGenerator[None]:
        if kept is None:
            yield
            return
        async with kept:
            yield

    store = StoppableGoals(kept or MemoryGoals(), world)
    return [Module("faults.goals", GOAL_STORE.set(store), lifespan=lifespan)]


def pursuing(*more: Modules) -> Modules:
    """Goals with a judge of ours, and further modules."""
    return lambda world: [
        *goals(world),
        Module("faults.judge", GOAL_EVALUATOR.set(Judge(world))),
        *(module for modules in more for module in modules(world)),
    ]


@scenario(pursuing())
async def goal_reached_in_two_steps(stage: Stage) -> None:
    stage.model.answers(calling("note"), text_answer("Half."), text_answer("Whole."))
    session = await stage.session()
    await session.set_goal("All of it")
    await stage.ask(session, "Begin")


@scenario(pursuing())
async def goal_blocked_and_resumed(stage: Stage) -> None:
    stage.model.answers(text_answer("Which one?"), text_answer("Whole."))
    session = await stage.session()
    await session.set_goal("All of it")
    await stage.ask(session, "Begin")
    await session.resume_goal()
    await stage.ask(session, "The red one")


@scenario(pursuing(hooked(completion_gates)))
async def goal_reached_with_completion_gates(stage: Stage) -> None:
    # The judge and the first gate both send "Half." on: the judge comes first.
    stage.model.answers(text_answer("Half."), calling("note"), text_answer("Whole."))
    session = await stage.session()
    await session.set_goal("All of it")
    await stage.ask(session, "Begin")


@scenario(pursuing(hooked(completion_gates)))
async def goal_reached_by_tools_that_end_the_run(stage: Stage) -> None:
    said = ("Half.", "Whole.")
    finish = ("finish", {"text": "it"})
    stage.model.answers(*(calls_answer(finish, text=text) for text in said))
    session = await stage.session()
    await session.set_goal("All of it")
    await stage.ask(session, "Begin")


@scenario(lambda world: [*goals(world), ModelGoalEvaluatorModule()])
async def goal_judged_by_the_model(stage: Stage) -> None:
    go_on = (
        f'{{"decision":"continue","reason":"progress_possible","next_instruction":"{INSTRUCTION}"}}'
    )
    done = '{"decision":"done","reason":"objective_met"}'
    answers = ("Half.", go_on, "Whole.", done)
    stage.model.answers(*(text_answer(text) for text in answers))
    session = await stage.session()
    await session.set_goal("All of it")
    await stage.ask(session, "Begin")


@scenario(pursuing())
async def goal_steered_while_it_goes_on(stage: Stage) -> None:
    end = anyio.Event()
    stage.model.answers(text_answer("Half.", gate=end), text_answer("Half."), text_answer("Whole."))
    session = await stage.session()
    await session.set_goal("All of it")
    await stage.send(session, "Begin")
    await stage.requested()
    await stage.steer(session, "This way")
    end.set()
    await session.when_idle()
