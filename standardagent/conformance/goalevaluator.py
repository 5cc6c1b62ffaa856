"""The referee of `goal.evaluator/v1`: judges conversations of every kind, through its recorder.

An evaluator that asks a model brings one that answers it: no referee knows how a judge is asked.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import cast

import anyio

from agentslot._conformance import Broken, Suite, check, demand
from agentslot.model import AttemptRecorder, Input, ModelRequest, Transcript
from agentslot.model.conformance.play import WatchfulRecorder
from agentslot.session import (
    ClassifiedError,
    ErrorKind,
    Goal,
    GoalId,
    GoalReason,
    Message,
    MessageId,
    Role,
    RunId,
    SessionId,
    StepId,
    TextPart,
    ToolCall,
    ToolCallId,
    ToolResult,
)
from agentslot.standardagent.conformance.asking import (
    expect_end_when_cancelled,
    expect_no_blocking,
)
from agentslot.standardagent.conformance.players import MODEL
from agentslot.standardagent.conformance.stage import Make, first, part, staged
from agentslot.standardagent.goal import (
    GOAL_EVALUATOR,
    GoalDecision,
    GoalEvaluation,
    GoalEvaluator,
    GoalQuestion,
    MemoryGoalsModule,
)

_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
_RUN, _STEP = RunId("run-1"), StepId("step-1")
_TURNS = 300
"""Turns of a long conversation, of some 600,000 characters."""


@asynccontextmanager
async def _evaluator(make: Make) -> AsyncGenerator[GoalEvaluator]:
    async with staged(part(GOAL_EVALUATOR, make), MemoryGoalsModule()) as stage:
        yield stage.assembly[GOAL_EVALUATOR]


def _said(number: int, role: Role, text: str) -> Message:
    message_id = MessageId(f"message-{number}")
    parts = (TextPart(text),) if text else ()
    return Message(message_id, role, parts, _MOMENT, _RUN, _STEP)


def _turn(number: int, length: int) -> list[Input]:
    """A message with a call, and a result of that length; each third call fails."""
    call_id, message = ToolCallId(f"call-{number}"), _said(number + 1, Role.ASSISTANT, "")
    result = ToolResult.succeeded(call_id, "x" * length)
    if number % 3 == 2:
        result = ToolResult.failed(call_id, "told_to_fail", "as it was told to")
    call = ToolCall(call_id, f"call_{number}", message.id, _RUN, _STEP, "note", '{"text":"a"}')
    return [message, call, result]


def _question(*inputs: Input) -> GoalQuestion:
    goal = Goal(GoalId("goal-1"), SessionId("session-1"), "Paint all walls.", 3, _MOMENT)
    return GoalQuestion(goal, _RUN, _STEP, 7, MODEL, Transcript(inputs))


def _questions() -> list[GoalQuestion]:
    """A word and its answer; work with tools; work that went on for long."""
    asked, answered = _said(0, Role.USER, "Begin."), _said(9_999, Role.ASSISTANT, "It is painted.")
    some = [each for number in range(3) for each in _turn(number, 10)]
    many = [each for number in range(_TURNS) for each in _turn(number, 2_000)]
    return [_question(asked, *work, answered) for work in ((), some, many)]


class _Recording:
    """Makes the recorders of an evaluator's requests.

    Args:
        question: what is judged.
        refusal: raised in place of each attempt.
    """

    def __init__(self, question: GoalQuestion, refusal: ClassifiedError | None = None) -> None:
        self.requests: list[ModelRequest] = []
        self._recorders: list[WatchfulRecorder] = []
        self._question = question
        self._refusal = refusal

    def __call__(self, request: ModelRequest) -> AttemptRecorder:
        """The recorder for a request; see RecordAttempts."""
        question = self._question
        asked = request.session_id, request.run_id, request.step_id, request.config
        known = question.goal.session_id, question.run_id, question.step_id, question.config
        demand(asked == known, "its request has other ids, or another config, than the question")
        recorder = WatchfulRecorder("its_attempts_are_recorded")
        recorder.start_error = self._refusal
        self.requests.append(request)
        self._recorders.append(recorder)
        return recorder

    def expect_ends(self) -> None:
        """Demand that no attempt is left without its end."""
        outcomes = [outcome for each in self._recorders for outcome in each.outcomes.values()]
        demand(None not in outcomes, "an attempt that it began has no end")


async def _judgement(evaluator: GoalEvaluator, question: GoalQuestion) -> GoalEvaluation:
    recording = _Recording(question)
    answer = cast("object", await evaluator.evaluate(question, recording))
    if not isinstance(answer, GoalEvaluation):
        raise Broken(f"it gave a {type(answer).__name__}, which is no evaluation")
    demand(answer.reason is not GoalReason.EVALUATOR_FAILURE, "it says that it failed")
    recording.expect_ends()
    return answer


@check
async def every_conversation_gets_a_judgement(make: Make) -> None:
    """One of two messages, one with calls that failed, one that is longer than any window."""
    async with _evaluator(make) as evaluator:
        for question in _questions():
            await _judgement(evaluator, question)


@check
async def a_run_gets_a_judgement(make: Make) -> None:
    """An evaluator that fails pauses the goal, and nobody works on it any more."""
    async with staged(part(GOAL_EVALUATOR, make), MemoryGoalsModule()) as stage:
        session = await stage.session()
        await session.set_goal("Note it, and look.", max_follow_ons=1)
        await session.send_and_wait("call note look!")
        goal = await session.goal()
        reason = None if goal is None else goal.reason
        judged = reason not in (None, GoalReason.EVALUATOR_FAILURE)
        demand(judged, f"the goal was left with the reason {reason}{stage.complained()}")


@check
async def a_request_that_is_refused_meets_no_goal(make: Make) -> None:
    """Where the Run may ask no model any more, it knows no more than before."""
    refusal = ClassifiedError(ErrorKind.UNAVAILABLE, "model_attempt_limit", "the limit is reached")
    async with _evaluator(make) as evaluator:
        for question in _questions():
            recording = _Recording(question, refusal)
            answer: object = None
            with suppress(Exception):
                answer = await evaluator.evaluate(question, recording)
            done = isinstance(answer, GoalEvaluation) and answer.decision is GoalDecision.DONE
            demand(not (done and recording.requests), "it was not let ask, and says that it is met")


@check
async def questions_at_the_same_time_do_not_disturb_each_other(make: Make) -> None:
    """One evaluator judges for all Sessions: it fails with others no more than alone."""
    alone, together = await _failures(make, 1), await _failures(make, 3)
    demand(bool(alone) or not together, first(together))


async def _failures(make: Make, sessions: int) -> list[str]:
    """What it raised when so many Sessions asked it at the same time."""
    raised: list[str] = []

    async def ask(evaluator: GoalEvaluator, question: GoalQuestion) -> None:
        try:
            await evaluator.evaluate(question, _Recording(question))
        except Exception as error:  # noqa: BLE001 - compared with what it does alone
            raised.append(f"it failed with {error!r}")

    async with _evaluator(make) as evaluator, anyio.create_task_group() as tasks:
        for question in [_questions()[1]] * sessions:
            tasks.start_soon(ask, evaluator, question)
    return raised


@check
async def it_does_not_keep_the_event_loop(make: Make) -> None:
    """A long conversation is read from its end: everybody shares the loop."""
    async with _evaluator(make) as evaluator:
        question = _questions()[-1]
        await expect_no_blocking(partial(evaluator.evaluate, question, _Recording(question)))


@check
async def it_leaves_the_conversation_as_it_is(make: Make) -> None:
    """What it adds for a request of its own is added to a conversation of its own."""
    async with _evaluator(make) as evaluator:
        for question in _questions():
            before = tuple(question.transcript)
            with suppress(Exception):
                await evaluator.evaluate(question, _Recording(question))
            demand(before == tuple(question.transcript), "it has changed it")


@check
async def a_question_that_is_cancelled_ends(make: Make) -> None:
    """The cancellation of the Run is let pass, and attempts that had begun get their end."""
    async with _evaluator(make) as evaluator:
        question = _questions()[1]
        recording = _Recording(question)
        await expect_end_when_cancelled(partial(evaluator.evaluate, question, recording))
        recording.expect_ends()


GOAL_EVALUATOR_SUITE: Suite[Make] = Suite(
    "goal.evaluator/v1",
    (
        every_conversation_gets_a_judgement,
        a_run_gets_a_judgement,
        a_request_that_is_refused_meets_no_goal,
        questions_at_the_same_time_do_not_disturb_each_other,
        it_does_not_keep_the_event_loop,
        it_leaves_the_conversation_as_it_is,
        a_question_that_is_cancelled_ends,
    ),
)
