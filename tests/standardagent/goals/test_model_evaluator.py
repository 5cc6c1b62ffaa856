"""The evaluator that asks the Run's model: a request of its own, within the Run's budgets."""

import json
from typing import Any

import pytest

from agentslot.model import ModelRequest, Transcript
from agentslot.session import (
    GoalReason,
    GoalStatus,
    Message,
    MessageId,
    ModelAttempt,
    ModelConfig,
    Role,
    RunId,
    RunStatus,
    StepId,
    TextPart,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolResult,
)
from agentslot.standardagent import AgentConfig
from agentslot.standardagent.goal import (
    GoalEvaluation,
    GoalQuestion,
    MemoryGoalsModule,
    ModelGoalEvaluatorModule,
    RecordAttempts,
)
from agentslot.standardagent.goal.evidence import evidence
from agentslot.tool import function_tool
from tests.session.scenario import at
from tests.standardagent.agents import Answer, agent, answer, call, calls, kinds
from tests.standardagent.goals.pursuing import goals, texts


def judged(decision: str, reason: str, **more: str) -> Answer:
    return answer(json.dumps({"decision": decision, "reason": reason, **more}))


CONTINUE = judged("continue", "progress_possible", next_instruction="Do the rest.")
DONE = judged("done", "objective_met")


def modules() -> list[Any]:
    return [MemoryGoalsModule(), ModelGoalEvaluatorModule()]


@function_tool
async def look() -> str:
    """Look."""
    return "it is red"


async def test_the_model_judges_the_work_without_its_tools() -> None:
    script = [calls(call("look")), answer("It is red."), CONTINUE, answer("All done."), DONE]
    config = AgentConfig(system_prompt="Be brief.", tool_keys=("look",))
    async with agent(script, tools=[look], config=config, modules=modules()) as session:
        await session.set_goal("paint it blue")
        result = await session.send_and_wait("go")
        goal = await session.goal()
        requests: list[ModelRequest] = session.executor.requests
        view = await session.view()
    assert result.text == "All done."
    assert (goal.status, goal.follow_ons) == (GoalStatus.COMPLETED, 1)
    judging = requests[2]
    assert judging.tools == ()
    assert judging.system_prompt is not None
    assert "You judge whether" in judging.system_prompt
    (task,) = texts(judging)
    for shown in ("paint it blue", "user: go", "call of look", "it is red", "It is red."):
        assert shown in task
    # What was said to the judge is no part of the conversation.
    assert texts(requests[3]) == ["go", "", "It is red.", "Do the rest."]
    assert kinds(view.recent_history)[-10:] == [
        "message:assistant",
        "model_attempt:started",
        "model_attempt:succeeded",
        "message:user",
        "model_attempt:started",
        "model_attempt:succeeded",
        "message:assistant",
        "model_attempt:started",
        "model_attempt:succeeded",
        "run:completed",
    ]


async def test_what_a_judgement_used_is_counted_for_the_run() -> None:
    async with agent([answer("done"), DONE], modules=modules()) as session:
        await session.set_goal("all of it")
        result = await session.send_and_wait("go")
    assert result.usage == TokenUsage(input=2, output=2, total=4)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ("It is done.", "not one JSON object"),
        ('```json\n{"decision": "done", "reason": "objective_met"}\n```', "not one JSON object"),
        ('{"decision": "done", "reason": "objective_met"} So it is.', "not one JSON object"),
        ('{"decision": "done", "decision": "done", "reason": "objective_met"}', "not one JSON"),
        ('{"decision": "perhaps", "reason": "objective_met"}', "decision: "),
        ('{"decision": "done", "reason": "needs_input"}', "needs_input is no reason"),
        ('{"decision": "continue", "reason": "progress_possible"}', "what to go on with"),
        ('{"decision": "done", "reason": "objective_met", "sure": true}', "sure: "),
        ('["done"]', "valid dictionary"),
    ],
)
async def test_an_answer_that_is_none_is_asked_for_once_more(said: str, complaint: str) -> None:
    async with agent([answer("done"), answer(said), DONE], modules=modules()) as session:
        await session.set_goal("all of it")
        await session.send_and_wait("go")
        goal = await session.goal()
        again = texts(session.executor.requests[2])
    assert goal.status is GoalStatus.COMPLETED
    assert again[1] == said
    assert complaint in again[2]


async def test_a_model_that_cannot_judge_blocks_the_goal() -> None:
    script = [answer("done"), answer("yes"), answer("yes!")]
    async with agent(script, modules=modules()) as session:
        await session.set_goal("all of it")
        result = await session.send_and_wait("go")
        goal = await session.goal()
    assert result.status is RunStatus.COMPLETED
    assert (goal.status, goal.reason) == (GoalStatus.PAUSED, GoalReason.EVALUATOR_FAILURE)


@pytest.mark.parametrize("reason", ["needs_input", "external_blocker"])
async def test_the_model_can_say_that_it_is_blocked(reason: str) -> None:
    async with agent([answer("?"), judged("blocked", reason)], modules=modules()) as session:
        await session.set_goal("all of it")
        await session.send_and_wait("go")
        goal = await session.goal()
    assert (goal.status, goal.reason) == (GoalStatus.PAUSED, reason)


@pytest.mark.parametrize(
    ("config", "code"),
    [
        (AgentConfig(max_model_attempts_per_run=1), "model_attempt_limit"),
        (AgentConfig(max_tokens_per_run=2), "run_token_budget_exceeded"),
    ],
)
async def test_a_run_without_means_for_a_judgement_is_interrupted(
    config: AgentConfig, code: str
) -> None:
    async with agent([answer("done"), DONE], config=config, modules=modules()) as session:
        await session.set_goal("all of it")
        result = await session.send_and_wait("go")
        goal = await session.goal()
        assert len(session.executor.requests) == 2
        asked = [f.payload for f in (await session.view()).recent_history]
    assert result.status is RunStatus.INTERRUPTED
    assert result.termination.code == code
    assert (goal.status, goal.version) == (GoalStatus.ACTIVE, 1)
    assert sum(isinstance(each, ModelAttempt) for each in asked) == 2  # one, started and ended


class Elsewhere:
    """Asks about another step than the one it is asked about."""

    async def evaluate(self, question: GoalQuestion, record: RecordAttempts) -> GoalEvaluation:
        config = ModelConfig(provider="other", model="other")
        request = ModelRequest(
            question.goal.session_id,
            question.run_id,
            question.step_id,
            config,
            None,
            Transcript(()),
        )
        await record(request).started()
        return GoalEvaluation.done()


async def test_an_evaluator_asks_with_the_config_of_its_run() -> None:
    async with agent([answer("done")], modules=goals(Elsewhere())) as session:
        await session.set_goal("all of it")
        result = await session.send_and_wait("go")
        goal = await session.goal()
    assert result.status is RunStatus.COMPLETED
    assert goal.reason is GoalReason.EVALUATOR_FAILURE


def said(role: Role, text: str) -> Message:
    return Message(MessageId("m"), role, (TextPart(text),), at(1), RunId("r"), StepId("s"))


def test_evidence_is_the_newest_part_of_a_conversation() -> None:
    long = "".join(str(n % 10) for n in range(10_000))
    tool_call = ToolCall(
        ToolCallId("c"), "t", MessageId("m"), RunId("r"), StepId("s"), "look", "{}"
    )
    transcript = Transcript(
        [
            said(Role.USER, "the first"),
            said(Role.ASSISTANT, long),
            tool_call,
            ToolResult.failed(ToolCallId("c"), "gone", "nothing there"),
        ]
    )
    whole = evidence(transcript, 10_000)
    assert whole.startswith("user: the first\n\nassistant: 0123")
    assert "[6011 characters left out]" in whole
    assert whole.endswith("call of look: {}\n\nresult: Error (gone): nothing there")
    assert evidence(transcript, 100) == (
        "[what was before is left out]\n\ncall of look: {}\n\nresult: Error (gone): nothing there"
    )
    assert evidence(transcript, 1).endswith("result: Error (gone): nothing there")
