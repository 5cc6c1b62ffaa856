"""A batch whose tools all vote for the end: the Run completes as after a final answer."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from agentslot import Module
from agentslot.session import (
    FileStoreModule,
    GoalStatus,
    MessageInput,
    RunStatus,
    ToolResult,
    ToolStatus,
)
from agentslot.standardagent import AgentConfig, PolicyModule, Preset
from agentslot.standardagent.goal import MemoryGoalsModule, ModelGoalEvaluatorModule
from agentslot.standardagent.hook import (
    AGENT_HOOKS,
    COMPLETION_GATES,
    TOOL_RESULT_HOOKS,
    AgentHookView,
    CompletionGateResult,
    CompletionGateView,
    ToolResultScope,
)
from agentslot.tool import Effect, Tool, function_tool
from tests.standardagent.agents import agent, answer, call, calls, kinds
from tests.standardagent.goals.pursuing import DONE, MORE, Judge, goals, texts
from tests.standardagent.hooks.crashes import image_after
from tests.standardagent.hooks.hooking import Hook, fails, note
from tests.standardagent.hooks.test_tool_result import adds
from tests.standardagent.test_resume import crash, resumed


class Stop:
    """Votes for the end. It may be held inside."""

    def __init__(self, *, hold: bool = False) -> None:
        @function_tool
        async def stop() -> str:
            """Stop."""
            raise AssertionError

        self.definition = stop.definition
        self.parallel_safe = False
        self.effect = Effect.PURE
        self.entered, self._open = anyio.Event(), anyio.Event()
        if not hold:
            self._open.set()

    async def invoke(self, invocation: Any) -> ToolResult:
        self.entered.set()
        await self._open.wait()
        return ToolResult(invocation.call.id, ToolStatus.SUCCEEDED, '"bye"', terminate=True)

    def open(self) -> None:
        self._open.set()


def stop_and(*more: Tool) -> list[Tool]:
    return [Stop(), *more]


@function_tool
async def look() -> str:
    """Look."""
    return "seen"


async def test_the_run_completes_without_asking_the_model_again() -> None:
    async with agent([calls(call("stop"), call("stop"))], tools=stop_and()) as session:
        result = await session.send_and_wait("go")
        view = await session.view()
    assert (result.status, len(session.executor.requests)) == (RunStatus.COMPLETED, 1)
    assert kinds(view.recent_history)[-2:] == ["tool_result:succeeded", "run:completed"]


async def test_one_result_without_a_vote_is_shown_to_the_model() -> None:
    script = [calls(call("stop"), call("look")), answer("done")]
    async with agent(script, tools=stop_and(look)) as session:
        assert (await session.send_and_wait("go")).text == "done"


async def test_the_goal_is_evaluated_and_the_run_goes_on_until_it_is_met() -> None:
    judge = Judge(MORE, DONE)
    script = [calls(call("stop")), calls(call("stop"))]
    async with agent(script, tools=stop_and(), modules=goals(judge)) as session:
        await session.set_goal("all of it")
        result = await session.send_and_wait("go")
        first, second = session.executor.requests
        goal = await session.goal()
    assert (result.status, goal.status) == (RunStatus.COMPLETED, GoalStatus.COMPLETED)
    assert first.run_id == second.run_id
    assert texts(second) == ["go", "", "look again"]
    assert isinstance(judge.questions[0].transcript[-1], ToolResult)


async def test_a_run_without_means_for_the_judgement_is_interrupted() -> None:
    modules = [MemoryGoalsModule(), ModelGoalEvaluatorModule()]
    config = AgentConfig(tool_keys=("stop",), max_model_attempts_per_run=1)
    script = [calls(call("stop")), answer("never asked for")]
    async with agent(script, tools=stop_and(), config=config, modules=modules) as session:
        await session.set_goal("all of it")
        result = await session.send_and_wait("go")
    assert result.status is RunStatus.INTERRUPTED
    assert result.termination.code == "model_attempt_limit"


async def test_a_steer_that_waits_joins_behind_the_results_and_the_run_goes_on() -> None:
    held, watching = Stop(hold=True), Hook("a", adds("n1"), scope=ToolResultScope())
    modules = [Module("test.hooks", TOOL_RESULT_HOOKS.append(watching))]
    script = [calls(call("stop")), answer("done")]
    async with agent(script, tools=[held], modules=modules) as session:
        await session.send("go")
        await held.entered.wait()
        await session.steer("also this")
        held.open()
        await session.when_idle()
        first, second = session.executor.requests
        view = await session.view()
    assert first.run_id == second.run_id
    # The batch has not ended the Run, so it is looked at like any other.
    assert texts(second) == ["go", "", "also this", "n1"]
    assert kinds(view.recent_history)[-1] == "run:completed"


async def test_a_steer_that_comes_while_gates_are_asked_keeps_the_run_going() -> None:
    gate = Hook("a", lambda _: CompletionGateResult.complete(), hold=True)
    modules = [Module("test.hooks", COMPLETION_GATES.append(gate))]
    script = [calls(call("stop")), answer("done")]
    async with agent(script, tools=stop_and(), modules=modules) as session:
        await session.send("go")
        await gate.entered()
        await session.steer("also this")
        gate.open()
        await session.when_idle()
        first, second = session.executor.requests
    assert first.run_id == second.run_id
    assert texts(second) == ["go", "", "also this"]


async def test_a_queued_message_begins_the_next_run() -> None:
    held = Stop(hold=True)
    script = [calls(call("stop")), answer("second")]
    async with agent(script, tools=[held]) as session:
        await session.send("go")
        await held.entered.wait()
        await session.send("the next thing")
        held.open()
        await session.when_idle()
        first, second = session.executor.requests
        view = await session.view()
    assert first.run_id != second.run_id
    assert texts(second) == ["go", "", "the next thing"]
    assert kinds(view.recent_history)[-1] == "run:completed"


async def test_agent_hooks_may_propose_something_to_go_on_with() -> None:
    class Once:
        async def before_run_complete(self, view: AgentHookView) -> Sequence[MessageInput]:
            return [note("go on")] if len(view.messages) == 2 else []

    modules = [Module("test.hooks", AGENT_HOOKS.append(Once()))]
    script = [calls(call("stop")), calls(call("stop"))]
    async with agent(script, tools=stop_and(), modules=modules) as session:
        result = await session.send_and_wait("go")
        first, second = session.executor.requests
    assert (result.status, first.run_id) == (RunStatus.COMPLETED, second.run_id)
    assert texts(second) == ["go", "", "go on"]


async def test_completion_gates_are_asked_about_the_message_that_made_the_calls() -> None:
    def decide(view: CompletionGateView) -> CompletionGateResult:
        more = CompletionGateResult.go_on(note("not yet"))
        return CompletionGateResult.complete() if view.follow_ons else more

    gate = Hook("a", decide)
    modules = [Module("test.hooks", COMPLETION_GATES.append(gate))]
    script = [calls(call("stop")), calls(call("stop"))]
    async with agent(script, tools=stop_and(), modules=modules) as session:
        result = await session.send_and_wait("go")
        facts = (await session.view()).recent_history
    said = [f.payload.id for f in facts if f.kind == "message" and f.payload.role == "assistant"]
    assert result.status is RunStatus.COMPLETED
    assert [view.message_id for view in gate.views] == said
    assert texts(session.executor.requests[1]) == ["go", "", "not yet"]


async def test_a_completion_gate_that_fails_interrupts_the_run() -> None:
    modules = [Module("test.hooks", COMPLETION_GATES.append(Hook("a", fails)))]
    async with agent([calls(call("stop"))], tools=stop_and(), modules=modules) as session:
        result = await session.send_and_wait("go")
    assert result.status is RunStatus.INTERRUPTED
    assert result.termination.code == "extension_failed"


async def test_a_cancellation_while_gates_are_asked_cancels_the_run() -> None:
    gate = Hook("a", lambda _: CompletionGateResult.complete(), hold=True)
    modules = [Module("test.hooks", COMPLETION_GATES.append(gate))]
    async with agent([calls(call("stop"))], tools=stop_and(), modules=modules) as session:
        await session.send("go")
        await gate.entered()
        await session.cancel()
        await session.when_idle()
        view = await session.view()
    assert kinds(view.recent_history)[-2:] == ["tool_result:succeeded", "run:canceled"]


async def test_gates_that_a_crash_left_unasked_are_asked_without_another_request(
    tmp_path: Path,
) -> None:
    def modules(gate: Hook) -> list[Module]:
        return [Module("test.hooks", COMPLETION_GATES.append(gate))]

    def completes(_: object) -> CompletionGateResult:
        return CompletionGateResult.complete()

    folder = tmp_path / "sessions"
    async with agent(
        [calls(call("stop"))],
        tools=stop_and(),
        modules=modules(Hook("a", completes)),
        store=lambda: FileStoreModule(folder),
    ) as session:
        await session.send_and_wait("go")
    crashed, again = image_after(folder, "completion-gates-prepare"), Hook("a", completes)
    async with resumed(crashed, session.id, [], stop_and(), modules(again)) as session:
        await session.when_idle()
        view = await session.view()
        assert session.executor.requests == []
    assert len(again.views) == 1
    assert kinds(view.recent_history)[-1] == "run:completed"


async def test_a_call_that_ended_with_its_process_has_no_vote(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    script = [calls(call("gate"), call("stop"))]
    store = partial(FileStoreModule, folder)
    async with agent(script, tools=stop_and(), gated=True, store=store) as session:
        await session.send("go")
        await session.gate.entered()
        image = crash(folder)
    async with resumed(image, session.id, [answer("I will look")], stop_and()) as session:
        await session.when_idle()
        (request,) = session.executor.requests
    results = [each for each in request.inputs if isinstance(each, ToolResult)]
    assert [r.status for r in results] == [ToolStatus.OUTCOME_UNKNOWN, ToolStatus.SUCCEEDED]


async def test_calls_that_a_crash_left_prepared_end_their_run_when_they_have_run(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "sessions"
    store = partial(FileStoreModule, folder)
    asked = [PolicyModule(Preset.TRUSTED)]  # so it is recorded before it begins
    script = [calls(call("stop"))]
    async with agent(script, tools=stop_and(), modules=asked, store=store) as session:
        await session.send_and_wait("go")
    async with resumed(
        image_after(folder, "model-complete"), session.id, [], stop_and()
    ) as session:
        await session.when_idle()
        view = await session.view()
        assert session.executor.requests == []
    assert kinds(view.recent_history)[-2:] == ["tool_result:succeeded", "run:completed"]
