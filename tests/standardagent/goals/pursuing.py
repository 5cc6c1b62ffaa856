"""Judges whose judgements the test gives, and the modules of an agent with goals."""

from collections.abc import Sequence
from typing import cast

import anyio

from agentslot import Module
from agentslot.model import ModelRequest
from agentslot.session import Message
from agentslot.standardagent.goal import (
    GOAL_EVALUATOR,
    GOAL_STORE,
    GoalEvaluation,
    GoalEvaluator,
    GoalQuestion,
    GoalStore,
    MemoryGoals,
    RecordAttempts,
)

MORE = GoalEvaluation.go_on("look again")
DONE = GoalEvaluation.done()


class Judge:
    """Gives the judgements in order, the last one for ever; keeps what it was asked."""

    def __init__(self, *judgements: GoalEvaluation | Exception) -> None:
        self._judgements = list(judgements)
        self.questions: list[GoalQuestion] = []

    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> GoalEvaluation:
        del record
        self.questions.append(question)
        judgement = self._judgements[0]
        if len(self._judgements) > 1:
            del self._judgements[0]
        if isinstance(judgement, Exception):
            raise judgement
        return judgement


class HeldJudge(Judge):
    """Waits with its first judgement until it is opened."""

    def __init__(self, *judgements: GoalEvaluation | Exception) -> None:
        super().__init__(*judgements)
        self._entered = anyio.Event()
        self._open = anyio.Event()

    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> GoalEvaluation:
        judgement = await super().evaluate(question, record)
        self._entered.set()
        await self._open.wait()
        return judgement

    async def entered(self) -> None:
        with anyio.fail_after(20):
            await self._entered.wait()

    def open(self) -> None:
        self._open.set()


def goals(judge: object, store: GoalStore | None = None) -> list[Module]:
    """The modules of an agent whose goals this judge judges."""
    evaluator = cast("GoalEvaluator", judge)  # some of them break the contract
    filled = GOAL_STORE.set(store or MemoryGoals()), GOAL_EVALUATOR.set(evaluator)
    return [Module("test.goals", *filled)]


def texts(request: ModelRequest) -> Sequence[str]:
    """What was said so far, as the model is shown it."""
    return [each.text for each in request.inputs if isinstance(each, Message)]
