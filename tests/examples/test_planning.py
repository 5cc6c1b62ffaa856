"""The loop of the example: a plan comes first, then the work."""

from agentslot.session import Message, RunStatus
from agentslot.tool import function_tool
from examples.planning import GO_ON, PLAN, planning_module
from tests.standardagent.agents import agent, answer, call, calls


@function_tool
async def look() -> str:
    """Look around."""
    return "all is well"


async def test_the_model_plans_before_it_works() -> None:
    script = [answer("1. look"), calls(call("look")), answer("All is well.")]
    async with agent(script, tools=[look], modules=[planning_module()]) as session:
        result = await session.send_and_wait("How are things?")
        requests = session.executor.requests
    asked = [[i.parts for i in r.inputs if isinstance(i, Message)] for r in requests]
    assert result.status is RunStatus.COMPLETED
    assert result.text == "All is well."
    assert [PLAN.parts in each for each in asked] == [True, False, False]
    assert [GO_ON.parts in each for each in asked] == [False, True, True]


async def test_a_model_that_ignores_the_plan_is_let_work() -> None:
    script = [calls(call("look")), answer("All is well.")]
    async with agent(script, tools=[look], modules=[planning_module()]) as session:
        result = await session.send_and_wait("How are things?")
    assert result.text == "All is well."
