"""Replacing a part of the standard agent on purpose."""

import pytest

from agentslot import Module, UnusedOverride
from agentslot.interaction import InProcessChannel
from agentslot.session import RunStatus
from agentslot.standardagent import AGENT_LOOP, CONTEXT_COMPACTOR, StandardLoop, TailCompactor
from tests.standardagent.agents import ScriptedModel, agent, answer, scripted_application


async def test_a_loop_that_replaces_the_standard_one_drives_the_run() -> None:
    class MyLoop(StandardLoop):
        pass

    override = Module("test.loop", AGENT_LOOP.set(MyLoop()).replacing_default())
    async with agent([answer("done")], modules=[override]) as session:
        result = await session.send_and_wait("go")
    assert (result.status, result.text) == (RunStatus.COMPLETED, "done")


def test_where_the_standard_agent_has_nothing_there_is_nothing_to_replace() -> None:
    override = Module("test.c", CONTEXT_COMPACTOR.set(TailCompactor(3)).replacing_default())
    application = scripted_application(ScriptedModel([]), InProcessChannel(), modules=[override])
    with pytest.raises(UnusedOverride) as caught:
        application.build()
    assert caught.value.slot == CONTEXT_COMPACTOR.id
