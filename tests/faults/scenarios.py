"""What an agent may go through, each in a few lines.

To add one, write a function that drives a `Stage` and decorate it with `@scenario`: every test of
this folder takes it up. It may leave the Session running; it need not close anything. Those with
hooks stand in `hookscenarios`.
"""

from collections.abc import Sequence

import anyio
import anyio.lowlevel

from agentslot import Module
from agentslot.interaction import QueuedCommand, SendMessage, SessionCommand, StartFromSummary
from agentslot.model import FinishReason, ModelErrorCode
from agentslot.model.testing import calls_answer, failing_answer, text_answer
from agentslot.session import (
    AgentId,
    Delivery,
    MessageInput,
    ModelConfig,
    ToolResult,
    WorkspaceId,
)
from agentslot.standardagent import (
    AGENT_LOOP,
    Action,
    AgentConfig,
    ContextRetention,
    Decision,
    LoopState,
    Outcome,
    PolicyEffect,
    PolicyModule,
    Preset,
    RunHandle,
    ToolRules,
)
from agentslot.standardagent.loop.contract import TERMINAL
from agentslot.tool import TOOL_MIDDLEWARE, ToolInvocation, ToolProceed, ToolsModule
from tests.faults.parts import EffectTool
from tests.faults.scenario import calling, scenario
from tests.faults.stage import Stage
from tests.faults.world import World


def asking(world: World) -> Sequence[Module]:
    del world
    return (PolicyModule(Preset.ASK_FOR_WRITES),)


@scenario()
async def plain_answer(stage: Stage) -> None:
    stage.model.answers(text_answer("Hello to you."))
    await stage.ask(await stage.session(), "Hello")


@scenario()
async def one_tool(stage: Stage) -> None:
    stage.model.answers(calling("note"), text_answer("Noted."))
    await stage.ask(await stage.session(), "Note this")


@scenario()
async def several_steps(stage: Stage) -> None:
    stage.model.answers(calling("note"), calling("look"), calling("note"), text_answer("Done."))
    await stage.ask(await stage.session(), "Take your time")


@scenario()
async def serial_batch(stage: Stage) -> None:
    stage.model.answers(calling("note", "note", "note"), text_answer("Done."))
    await stage.ask(await stage.session(), "Note three things")


@scenario()
async def parallel_batch(stage: Stage) -> None:
    stage.model.answers(calling("look", "look", "look"), text_answer("Seen."))
    await stage.ask(await stage.session(), "Look around")


@scenario()
async def mixed_batch(stage: Stage) -> None:
    stage.model.answers(calling("look", "look", "note", "nobody", "look"), text_answer("Done."))
    await stage.ask(await stage.session(), "Look and note")


def behind_middleware(world: World) -> Sequence[Module]:
    class Passing:
        async def invoke(self, invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
            await world.pause("before the tool")
            result = await proceed()
            await world.pause("behind the tool")
            return result

    return (Module("faults.middleware", TOOL_MIDDLEWARE.append(Passing())),)


@scenario(behind_middleware)
async def tools_behind_middleware(stage: Stage) -> None:
    stage.model.answers(calling("look", "look", "note"), text_answer("Done."))
    await stage.ask(await stage.session(), "Look and note")


def with_hidden_tool(world: World) -> Sequence[Module]:
    hidden = EffectTool(world, "hidden")
    return (ToolsModule(hidden, deferred=True, module_id="faults.deferred"),)


@scenario(with_hidden_tool, config=AgentConfig(tool_keys=("hidden",)))
async def tool_that_is_found(stage: Stage) -> None:
    search = calls_answer(("tool_search", {"query": "hidden"}))
    stage.model.answers(calling("hidden"), search, calling("hidden"), text_answer("Found it."))
    await stage.ask(await stage.session(), "Look for it")


@scenario()
async def failing_tool(stage: Stage) -> None:
    stage.model.answers(calling("fail", "note"), text_answer("It failed."))
    await stage.ask(await stage.session(), "Try it")


@scenario()
async def unknown_tool(stage: Stage) -> None:
    stage.model.answers(calling("nobody"), text_answer("There is no such tool."))
    await stage.ask(await stage.session(), "Try it")


@scenario()
async def broken_arguments(stage: Stage) -> None:
    stage.model.answers(
        calls_answer(("note", '{"text": "unfin'), ("note", "[]"), ("note", {"text": "good"})),
        text_answer("One of three."),
    )
    await stage.ask(await stage.session(), "Note three things")


@scenario()
async def truncated_answer_with_calls(stage: Stage) -> None:
    cut = calls_answer(
        ("note", {"text": "whole"}), ("note", '{"text": "c'), finish=FinishReason.LENGTH
    )
    stage.model.answers(cut, calling("note"), text_answer("Done."))
    await stage.ask(await stage.session(), "Note two things")


@scenario()
async def tool_that_ends_the_run(stage: Stage) -> None:
    stage.model.answers(calling("finish"))
    await stage.ask(await stage.session(), "Finish")


@scenario()
async def steer_during_a_tool(stage: Stage) -> None:
    stage.model.answers(calling("wait"), text_answer("Both done."))
    session = await stage.session()
    await stage.send(session, "Wait for it")
    await stage.gate.entered.wait()
    await stage.steer(session, "And this")
    stage.gate.open()
    await session.when_idle()


@scenario()
async def steer_at_completion(stage: Stage) -> None:
    end = anyio.Event()
    stage.model.answers(text_answer("First.", gate=end), text_answer("And the second."))
    session = await stage.session()
    await stage.send(session, "Answer")
    await stage.requested()
    await stage.steer(session, "Another thing")
    end.set()
    await session.when_idle()


@scenario()
async def second_message_queued(stage: Stage) -> None:
    stage.model.answers(calling("wait"), text_answer("First."), text_answer("Second."))
    session = await stage.session()
    await stage.send(session, "The first")
    await stage.gate.entered.wait()
    await stage.send(session, "The second")
    stage.gate.open()
    await session.when_idle()


@scenario()
async def message_held_and_released(stage: Stage) -> None:
    stage.model.answers(calling("wait"), text_answer("First."), text_answer("Second."))
    session = await stage.session()
    await stage.send(session, "The first")
    await stage.gate.entered.wait()
    message_id = await stage.send(session, "The second")
    command = QueuedCommand(session.id, message_id)
    await stage.access.reclassify_queued(command, Delivery.HELD)
    stage.gate.open()
    await session.when_idle()
    await stage.access.reclassify_queued(command, Delivery.NORMAL)
    await stage.access.run_pending(SessionCommand(session.id))
    await session.when_idle()


@scenario()
async def queued_messages_edited_and_deleted(stage: Stage) -> None:
    stage.model.answers(calling("wait"), text_answer("First."), text_answer("Edited."))
    session = await stage.session()
    await stage.send(session, "The first")
    await stage.gate.entered.wait()
    edited = await stage.send(session, "The second")
    deleted = await stage.send(session, "The third")
    await stage.access.edit_queued(QueuedCommand(session.id, edited), MessageInput.of("Better"))
    stage.world.withdraw(session.id, deleted)
    await stage.access.delete_queued(QueuedCommand(session.id, deleted))
    stage.gate.open()
    await session.when_idle()


@scenario()
async def cancel_during_a_stream(stage: Stage) -> None:
    gate = anyio.Event()
    stage.model.answers(text_answer("Never finished.", gate=gate))
    session = await stage.session()
    await stage.send(session, "Talk")
    # Not before the stream waits: trio draws who comes first, and the story would vary in length.
    while not gate.statistics().tasks_waiting:
        await anyio.lowlevel.checkpoint()
    await session.cancel()
    await session.when_idle()


@scenario()
async def cancel_during_a_tool(stage: Stage) -> None:
    stage.model.answers(calling("note", "wait", "note"))
    session = await stage.session()
    await stage.send(session, "Wait")
    await stage.gate.entered.wait()
    await session.cancel()
    await session.when_idle()


@scenario()
async def cancel_with_a_steer_and_a_message_waiting(stage: Stage) -> None:
    stage.model.answers(text_answer("Never finished.", gate=anyio.Event()))
    session = await stage.session()
    await stage.send(session, "Talk")
    await stage.requested()
    await stage.steer(session, "Not like this")
    await stage.send(session, "The next thing")
    await session.cancel()
    await session.when_idle()


@scenario(asking)
async def cancel_during_an_approval(stage: Stage) -> None:
    stage.model.answers(calling("note", "store"))
    session = await stage.session()
    await stage.send(session, "Store it")
    await stage.asked(session)
    await session.cancel()
    await session.when_idle()


@scenario(asking)
async def approval_given(stage: Stage) -> None:
    stage.model.answers(calling("note", "store", "look"), text_answer("Stored."))
    session = await stage.session()
    await stage.send(session, "Store it")
    await session.approve(await stage.asked(session))
    await session.when_idle()


@scenario(asking)
async def approval_denied(stage: Stage) -> None:
    stage.model.answers(calling("store"), text_answer("I may not."))
    session = await stage.session()
    await stage.send(session, "Store it")
    await session.deny(await stage.asked(session), "not today")
    await session.when_idle()


@scenario(asking)
async def approval_waiting_at_the_end(stage: Stage) -> None:
    stage.model.answers(calling("store", "store"))
    session = await stage.session()
    await stage.send(session, "Store it")
    await stage.asked(session)


@scenario(
    lambda _: (
        PolicyModule(
            ToolRules(
                {"note": Decision(PolicyEffect.DENY, "no notes here")},
                fallback=Decision(PolicyEffect.ALLOW),
            )
        ),
    )
)
async def guard_denies(stage: Stage) -> None:
    stage.model.answers(calling("look", "note"), text_answer("No notes."))
    await stage.ask(await stage.session(), "Look and note")


@scenario(config=AgentConfig(max_tokens_per_run=20))
async def token_budget(stage: Stage) -> None:
    stage.model.answers(calling("note"), calling("note"), text_answer("Never said."))
    await stage.ask(await stage.session(), "Go on")


@scenario(config=AgentConfig(max_model_attempts_per_run=2))
async def attempt_limit(stage: Stage) -> None:
    stage.model.answers(calling("note"), calling("note"), text_answer("Never said."))
    await stage.ask(await stage.session(), "Go on")


@scenario(config=AgentConfig(max_tool_calls_per_run=3))
async def tool_call_limit(stage: Stage) -> None:
    stage.model.answers(calling("note", "note"), calling("note", "note"))
    await stage.ask(await stage.session(), "Go on")


@scenario()
async def model_failure(stage: Stage) -> None:
    stage.model.answers(
        failing_answer(ModelErrorCode.INVALID_ANSWER, deltas=["half an an"]), text_answer("Better.")
    )
    session = await stage.session()
    await stage.ask(session, "Answer")
    await stage.ask(session, "Once more")


@scenario()
async def retry_with_a_reset(stage: Stage) -> None:
    overloaded = failing_answer(ModelErrorCode.OVERLOADED, retryable=True, deltas=["half an an"])
    stage.model.answers([overloaded, overloaded, text_answer("Here it is.")])
    await stage.ask(await stage.session(), "Answer")


@scenario()
async def two_runs_in_sequence(stage: Stage) -> None:
    stage.model.answers(calling("note"), text_answer("First."), text_answer("Second."))
    session = await stage.session()
    await stage.ask(session, "The first")
    await stage.ask(session, "The second")


@scenario()
async def model_switched_between_runs(stage: Stage) -> None:
    stage.model.answers(text_answer("First."), text_answer("Second."))
    session = await stage.session()
    await stage.ask(session, "The first")
    other = ModelConfig(provider="test", model="another")
    await stage.access.update_model_config(SessionCommand(session.id), other)
    await session.view()
    await stage.ask(session, "The second")


@scenario()
async def prefix_forked_while_running(stage: Stage) -> None:
    stage.model.answers(text_answer("First."), calling("wait"), text_answer("Of the fork."))
    session = await stage.session()
    await stage.ask(session, "The first")
    await stage.send(session, "The second")
    await stage.gate.entered.wait()
    fork = await stage.channel.fork_session(
        session.id,
        agent="tester",
        workspace="default",
        mode="history_prefix",
        cutoff=await stage.end_of_first_run(session),
    )
    await stage.ask(fork, "In the fork")
    stage.gate.open()
    await session.when_idle()


@scenario()
async def everything_forked(stage: Stage) -> None:
    stage.model.answers(calling("note"), text_answer("First."), text_answer("Of the fork."))
    session = await stage.session()
    await stage.ask(session, "The first")
    fork = await stage.channel.fork_session(session.id, agent="tester", workspace="default")
    await stage.ask(fork, "In the fork")
    await stage.ask(session, "In the trunk")


@scenario()
async def started_from_a_summary(stage: Stage) -> None:
    stage.model.answers(text_answer("First."), calling("note"), text_answer("Of the summary."))
    session = await stage.session()
    await stage.ask(session, "The first")
    opened = await stage.access.start_from_summary(
        StartFromSummary(
            AgentId("tester"),
            WorkspaceId("default"),
            (MessageInput.of("What was said before"),),
            session.id,
        )
    )
    result = await stage.access.send_and_wait(
        SendMessage(opened.session_id, MessageInput.of("Go on"))
    )
    stage.world.accept(result.session_id, result.message_id)


@scenario()
async def rewound_with_a_summary(stage: Stage) -> None:
    stage.model.answers(calling("note"), text_answer("First."), text_answer("Of the branch."))
    session = await stage.session()
    await stage.ask(session, "The first")
    branch = await session.rewind(summary="It was noted.")
    await stage.ask(branch, "Something else")


@scenario(config=AgentConfig(context_retention=ContextRetention.RETAIN_ALL))
async def every_request_kept(stage: Stage) -> None:
    stage.model.answers(calling("note"), calling("look"), text_answer("Done."))
    await stage.ask(await stage.session(), "Note and look")


class WaitingLoop:
    """Lets the Run wait as soon as tools have run."""

    async def run(self, run: RunHandle) -> Outcome:
        state = run.state
        if state is LoopState.READY_FOR_MODEL:
            state = await run.act(Action.REQUEST_MODEL)
        if state is LoopState.TOOLS_READY:
            state = await run.act(Action.EXECUTE_TOOLS)
        if state is LoopState.CONTINUE_READY:
            state = await run.act(Action.WAIT)
        return await run.finish(TERMINAL[state])


@scenario(lambda _: (Module("faults.loop", AGENT_LOOP.set(WaitingLoop())),), completes=False)
async def loop_that_waits(stage: Stage) -> None:
    stage.model.answers(calling("note"))
    await stage.ask(await stage.session(), "Note this and wait")


@scenario()
async def closed_while_running(stage: Stage) -> None:
    stage.model.answers(calling("note", "wait"))
    session = await stage.session()
    await stage.send(session, "Wait")
    await stage.gate.entered.wait()
    await stage.send(session, "Later")
    await session.close()


@scenario()
async def application_stopped_while_running(stage: Stage) -> None:
    stage.model.answers(calling("look", "wait"))
    session = await stage.session()
    await stage.send(session, "Wait")
    await stage.gate.entered.wait()
