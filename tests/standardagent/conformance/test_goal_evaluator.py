"""The referee of goal evaluators."""

import time
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from agentslot import Module
from agentslot.model import (
    ExecutionCapabilities,
    ModelConfig,
    ModelRequest,
    ModelStream,
)
from agentslot.model.testing import Script, ScriptedExecutor, text_answer
from agentslot.session import ClassifiedError, GoalReason, RunId
from agentslot.standardagent.conformance import GOAL_EVALUATOR_SUITE, asking
from agentslot.standardagent.goal import (
    GoalEvaluation,
    GoalQuestion,
    ModelGoalEvaluator,
    RecordAttempts,
)
from tests.standardagent.conformance.judging import broken_rules
from tests.standardagent.conformance.wrong import some_rounds

DONE = text_answer('{"decision": "done", "reason": "objective_met"}')
MORE = text_answer(
    '{"decision": "continue", "reason": "progress_possible", "next_instruction": "Go on."}'
)


def judge(*answers: Script, window: int = 100_000) -> ModelGoalEvaluator:
    """An evaluator that asks a model, which says the last of these again and again."""
    capabilities = ExecutionCapabilities(context_window_tokens=window)
    scripts = [*answers, *[answers[-1]] * 20]
    return ModelGoalEvaluator(ScriptedExecutor(*scripts, capabilities=capabilities))


@pytest.mark.parametrize(
    "make",
    [
        lambda: judge(DONE),
        lambda: judge(MORE),
        lambda: judge(text_answer("It is done."), DONE),
        lambda: judge(DONE, window=1_000),
    ],
)
async def test_our_evaluator_conforms(make: Callable[[], ModelGoalEvaluator]) -> None:
    await GOAL_EVALUATOR_SUITE.check(make)


class Evaluator:
    """Judges by itself."""

    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> Any:
        return GoalEvaluation.done()


class Wordy(Evaluator):
    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> Any:
        return "done"


class Resigned(Evaluator):
    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> Any:
        return GoalEvaluation.blocked(GoalReason.EVALUATOR_FAILURE)


class Hurried(Evaluator):
    """Reads nothing long."""

    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> Any:
        if len(question.transcript) > 100:
            raise MemoryError("too long")
        return GoalEvaluation.done()


class Asking(Evaluator):
    """Asks a model, in some wrong way."""

    def __init__(self) -> None:
        self.model = ScriptedExecutor(*[DONE] * 50)

    def ask(
        self,
        question: GoalQuestion,
        record: RecordAttempts,
        run_id: RunId | None = None,
        config: ModelConfig | None = None,
    ) -> ModelStream:
        request = ModelRequest(
            question.goal.session_id,
            run_id or question.run_id,
            question.step_id,
            config or question.config,
            "",
            question.transcript,
        )
        return self.model.execute(request, record(request))


class Stranger(Asking):
    """Asks in a Run of its own."""

    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> Any:
        self.ask(question, record, run_id=RunId("evaluation"))
        return GoalEvaluation.done()


class Other(Asking):
    """Asks a model that was not selected."""

    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> Any:
        self.ask(question, record, config=ModelConfig("conformance", "cheaper"))
        return GoalEvaluation.done()


class Impatient(Asking):
    """Lets go of the stream when it has seen enough."""

    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> Any:
        await self.ask(question, record).receive()
        return GoalEvaluation.done()


class Trusting(Asking):
    """Believes the agent if no judge can be asked."""

    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> Any:
        stream = self.ask(question, record)
        try:
            while True:
                await stream.receive()
        except (anyio.EndOfStream, ClassifiedError):
            return GoalEvaluation.done()


class Unready(Evaluator):
    busy = False

    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> Any:
        if self.busy:
            raise RuntimeError("busy")
        self.busy = True
        await some_rounds()
        self.busy = False
        return GoalEvaluation.done()


class Blocking(Evaluator):
    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> Any:
        enough = time.perf_counter() + 0.01
        while time.perf_counter() < enough:
            pass
        return GoalEvaluation.done()


class Meddling(Evaluator):
    """Makes room in the conversation of the Session."""

    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> Any:
        question.transcript.ledger.items[0] = question.transcript[-1]
        return GoalEvaluation.done()


class Stubborn(Evaluator):
    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> Any:
        with anyio.CancelScope(shield=True):
            await some_rounds()
        return GoalEvaluation.done()


JUDGED = "every_conversation_gets_a_judgement"
RUN = "a_run_gets_a_judgement"
REFUSED = "a_request_that_is_refused_meets_no_goal"
MANY = "questions_at_the_same_time_do_not_disturb_each_other"
KEEPS = "it_does_not_keep_the_event_loop"
LEAVES = "it_leaves_the_conversation_as_it_is"
CANCELLED = "a_question_that_is_cancelled_ends"
FAILED = "with the reason evaluator_failure"
NO_END = "an attempt that it began has no end"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (Wordy, {JUDGED: "it gave a str, which is no evaluation", RUN: FAILED}),
        (Resigned, {JUDGED: "it says that it failed", RUN: FAILED}),
        (Hurried, {JUDGED: "too long"}),
        (Stranger, {JUDGED: "its request has other ids", RUN: FAILED}),
        (Other, {JUDGED: "or another config", RUN: FAILED}),
        (Impatient, {JUDGED: NO_END, CANCELLED: NO_END}),
        (Trusting, {REFUSED: "it was not let ask, and says that it is met"}),
        (Unready, {MANY: "busy"}),
        (Blocking, {KEEPS: "it keeps the event loop"}),
        (Meddling, {LEAVES: "it has changed it"}),
        (Stubborn, {CANCELLED: "goes on"}),
    ],
)
async def test_a_broken_evaluator_fails_the_checks_that_are_for_it(
    make: Callable[[], Evaluator], said: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if make is Stubborn:
        monkeypatch.setattr(asking, "CANCEL_SECONDS", 0.0)
    if KEEPS in said:
        monkeypatch.setattr(asking, "STEP_SECONDS", 0.005)
    found = await broken_rules(GOAL_EVALUATOR_SUITE, make)
    assert found.keys() == said.keys()
    assert all(said[rule] in found[rule] for rule in said)


async def test_a_module_without_an_evaluator_conforms_to_nothing() -> None:
    found = await broken_rules(GOAL_EVALUATOR_SUITE, lambda: Module("empty"))
    assert len(found) == len(GOAL_EVALUATOR_SUITE.checks)
