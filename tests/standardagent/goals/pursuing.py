"""A judge whose judgements the test gives, and the modules of an agent with goals."""

from collections.abc import Callable, Sequence

from agentslot import Module
from agentslot.model import ModelRequest, RequestedCall
from agentslot.session import Message
from agentslot.standardagent.goal import (
    GOAL_EVALUATOR,
    GOAL_STORE,
    GoalEvaluation,
    GoalQuestion,
    GoalStore,
    MemoryGoals,
    RecordAttempts,
)

Judgement = GoalEvaluation | Exception | Callable[[], GoalEvaluation]

MORE = GoalEvaluation.go_on("look again")
DONE = GoalEvaluation.done()


class Judge:
    """Gives the judgements in order, the last one for ever; keeps what it was asked."""

    def __init__(self, *judgements: Judgement) -> None:
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
        return judgement if isinstance(judgement, GoalEvaluation) else judgement()


def goals(judge: object, store: GoalStore | None = None) -> list[Module]:
    return [
        Module("test.goals", GOAL_STORE.set(store or MemoryGoals()), GOAL_EVALUATOR.set(judge))  # type: ignore[arg-type]
    ]


def texts(request: ModelRequest) -> Sequence[str]:
    return [each.text for each in request.inputs if isinstance(each, Message)]


__all__ = ["DONE", "MORE", "Judge", "RequestedCall", "goals", "texts"]
