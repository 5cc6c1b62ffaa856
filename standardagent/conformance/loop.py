"""The referee of `agent.loop/v1`: a loop drives Runs of a standard agent to their ends."""

import anyio.lowlevel

from agentslot import Module
from agentslot._conformance import Suite, check, demand
from agentslot.session import ExtensionDescriptor, MemoryStore, MessageInput, RunStatus
from agentslot.standardagent.config import AgentConfig
from agentslot.standardagent.conformance.players import DONE
from agentslot.standardagent.conformance.stage import Make, Stage, part, staged
from agentslot.standardagent.hook import (
    COMPLETION_GATES,
    CompletionGateResult,
    CompletionGateView,
)
from agentslot.standardagent.loop import AGENT_LOOP
from agentslot.standardagent.policy import PolicyModule, Preset


@check
async def every_call_is_made_once_and_its_result_is_shown(make: Make) -> None:
    """The Run completes with what the model says to the results."""
    async with staged(part(AGENT_LOOP, make)) as stage:
        session = await stage.session()
        result = await session.send_and_wait("call note look")
        await stage.expect_end(session, RunStatus.COMPLETED)
        demand(stage.made == ["note", "look"], f"of note and look, {stage.made} were called")
        demand(result.text == DONE, f"it said {result.text!r}: it has not seen the results")
        stage.expect_no_complaints()


class _GoesOnOnce:
    def descriptor(self) -> ExtensionDescriptor:
        return ExtensionDescriptor.of("conformance.goes-on", "1")

    async def evaluate(self, view: CompletionGateView) -> CompletionGateResult:
        if view.follow_ons:
            return CompletionGateResult.complete()
        return CompletionGateResult.go_on(MessageInput.of("call note"))


@check
async def a_run_that_is_sent_on_goes_on(make: Make) -> None:
    """`continue_ready` after a request without calls: a message or a hook has more to do."""
    gate = Module("conformance.gate", COMPLETION_GATES.append(_GoesOnOnce()))
    async with staged(part(AGENT_LOOP, make), gate) as stage:
        session = await stage.session()
        await session.send_and_wait("hello")
        await stage.expect_end(session, RunStatus.COMPLETED)
        demand(stage.made == ["note"], "the Run did not go on when a completion gate sent it on")
        stage.expect_no_complaints()


@check
async def a_batch_that_ends_the_run_ends_it(make: Make) -> None:
    """`completed` after a batch whose results all vote to end."""
    async with staged(part(AGENT_LOOP, make)) as stage:
        session = await stage.session()
        await session.send_and_wait("call note.")
        await stage.expect_end(session, RunStatus.COMPLETED)
        requests = len(stage.model.requests)
        demand(requests == 1, f"the model was asked {requests} times, the last time for nothing")
        stage.expect_no_complaints()


@check
async def a_model_that_fails_ends_the_run(make: Make) -> None:
    """`failed` after a request: the Run has failed, and nothing else may be done."""
    async with staged(part(AGENT_LOOP, make)) as stage:
        session = await stage.session()
        await session.send_and_wait("break")
        await stage.expect_end(session, RunStatus.FAILED)
        stage.expect_no_complaints()


@check
async def a_budget_that_is_used_up_ends_the_run(make: Make) -> None:
    """`budget_exceeded`: the Run is interrupted, and nothing else may be done."""
    config = AgentConfig(max_tool_calls_per_run=1)
    async with staged(part(AGENT_LOOP, make), config=config) as stage:
        session = await stage.session()
        await session.send_and_wait("call note look")
        await stage.expect_end(session, RunStatus.INTERRUPTED)
        demand(not stage.made, f"{stage.made} were made beyond the limit")
        stage.expect_no_complaints()


@check
async def a_run_can_be_cancelled(make: Make) -> None:
    """`canceled`, while the model answers and while a tool works."""
    async with staged(part(AGENT_LOOP, make)) as stage:
        session = await stage.session()
        await session.send("wait call note")
        await stage.model.waiting(session.id)
        await session.cancel()
        await stage.expect_end(session, RunStatus.CANCELED)
        await session.send("call note~")
        await _until_called(stage)
        await session.cancel()
        await stage.expect_end(session, RunStatus.CANCELED)
        stage.expect_no_complaints()


async def _until_called(stage: Stage) -> None:
    while not stage.made:
        await anyio.lowlevel.checkpoint()


@check
async def calls_that_wait_after_a_crash_are_made(make: Make) -> None:
    """A new loop finds a Run in `tools_ready`, and goes on from there."""
    disk, loop = MemoryStore(), part(AGENT_LOOP, make)
    asked = PolicyModule(Preset.TRUSTED)  # or calls would begin in the commit that records them
    async with staged(loop, asked, disk=disk, dies_after="model-complete") as dead:
        session = await dead.session()
        await session.send("call note")
        await dead.store.died.wait()
        async with staged(part(AGENT_LOOP, make), disk=disk) as stage:
            again = await stage.channel.resume_session(session.id)
            await stage.expect_end(again, RunStatus.COMPLETED)
            demand(stage.made == ["note"], f"the call that waited was made {len(stage.made)} times")
            stage.expect_no_complaints()


@check
async def runs_at_the_same_time_do_not_disturb_each_other(make: Make) -> None:
    """One loop drives the Runs of all Sessions: what it knows of one is not for another."""
    async with staged(part(AGENT_LOOP, make)) as stage:
        sessions = [await stage.session() for _ in range(3)]
        for session in sessions:
            await session.send("wait call note")
            await stage.model.waiting(session.id)
        for session in sessions:
            stage.model.go_on(session.id)
        for session in sessions:
            await stage.expect_end(session, RunStatus.COMPLETED)
        demand(len(stage.made) == 3, f"of one call in each of 3 Runs, {len(stage.made)} were made")
        stage.expect_no_complaints()


AGENT_LOOP_SUITE: Suite[Make] = Suite(
    "agent.loop/v1",
    (
        every_call_is_made_once_and_its_result_is_shown,
        a_run_that_is_sent_on_goes_on,
        a_batch_that_ends_the_run_ends_it,
        a_model_that_fails_ends_the_run,
        a_budget_that_is_used_up_ends_the_run,
        a_run_can_be_cancelled,
        calls_that_wait_after_a_crash_are_made,
        runs_at_the_same_time_do_not_disturb_each_other,
    ),
)
