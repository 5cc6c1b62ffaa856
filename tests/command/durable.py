"""Real agents with Sessions on disk, in the folder `sessions` of the current directory."""

from collections.abc import Sequence

import anyio

from agentslot import Application, Module
from agentslot.interaction import CliChannel, InProcessChannel, gateway_channel
from agentslot.session import FileArtifactsModule, FileStoreModule
from agentslot.standardagent.policy import ApprovalDeskModule, PolicyModule, Preset
from agentslot.tool import Effect, function_tool
from tests.standardagent.agents import (
    Answer,
    ScriptedModel,
    answer,
    call,
    calls,
    scripted_application,
)


@function_tool(parallel_safe=True, effect=Effect.PURE)
async def quick() -> str:
    """Return at once."""
    return "done\n" * 30


@function_tool(parallel_safe=True, effect=Effect.PURE)
async def slow() -> str:
    """Never return."""
    await anyio.sleep_forever()
    return ""


@function_tool(parallel_safe=True, effect=Effect.PURE)
async def stubborn() -> str:
    """Never return, and clean up for ever."""
    try:
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.sleep_forever()
    return ""


@function_tool(effect=Effect.PURE)
async def alone() -> str:
    """Run only when nothing else runs."""
    return "done"


@function_tool(effect=Effect.WRITE)
async def write(path: str) -> str:
    """Pretend to write."""
    return f"wrote {path}"


def agent(*script: Answer, modules: Sequence[Module] = ()) -> Application:
    return scripted_application(
        ScriptedModel(script),
        InProcessChannel(),
        tools=[quick, slow, stubborn, alone, write],
        modules=[PolicyModule(Preset.ASK_FOR_WRITES), ApprovalDeskModule(), *modules],
        store=lambda: FileStoreModule("sessions"),
    )


def terminal() -> Application:
    """With the terminal mounted as a channel of its own."""
    channel = CliChannel(agent="test", workspace="default")
    return agent(answer("Hello yourself."), modules=[gateway_channel("cli", channel)])


def batch() -> Application:
    """Five calls: two that end, two that do not, one that waits for its turn."""
    names = ("quick", "slow", "quick", "slow", "alone")
    return agent(calls(*(call(name) for name in names)))


def stubborn_batch() -> Application:
    return agent(calls(call("quick"), call("stubborn"), call("alone")))


def writer() -> Application:
    return agent(calls(call("write", path="a.txt")), answer("I did what I could."))


def talker() -> Application:
    return agent(answer("Hello yourself."), answer("Still here."))


def viewer() -> Application:
    return agent(answer("A blue dot."), modules=[FileArtifactsModule("artifacts")])


def reader() -> Application:
    return agent(calls(call("quick")), answer("That was long."))
