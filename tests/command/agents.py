"""Agents that subcommands are pointed at: applications around the Gateway that tests play."""

import warnings

import anyio

from agentslot import Application, Module
from agentslot.interaction import GATEWAY_ACCESS, InProcessChannel, gateway_channel
from agentslot.session import ToolResult
from tests.interaction.fake_gateway import FakeGateway
from tests.interaction.fake_session import FakeRun, RunFailed, Script, echo


async def calculate(run: FakeRun) -> None:
    """Use a tool, then answer."""
    call = run.call("add", {"a": 2, "b": 2})
    run.start(call)
    run.finish(call, ToolResult.succeeded(call.id, 4))
    await run.say("2+2 ", "is 4.")


async def write_file(run: FakeRun) -> None:
    """Ask before writing."""
    call = run.call("file_write", {"path": "a.txt"})
    answer = await run.ask(call, "it writes files")
    await run.say("written" if answer.approved else f"not written: {answer.reason}")


async def fail(run: FakeRun) -> None:
    """Be refused by the provider."""
    raise RunFailed("bad_request", "the provider refused the request (400)")


async def be_noisy(run: FakeRun) -> None:
    """Write to standard output in every way there is."""
    print("noise from a tool")
    await anyio.run_process(["echo", "noise from a child"], stdout=None)
    warnings.warn("noise from a plugin", stacklevel=1)
    await echo(run)


async def answer_at_length(run: FakeRun) -> None:
    """Answer with more than a pipe holds."""
    for number in range(2_000):
        await run.say(f"line {number}\n")


async def work_forever(run: FakeRun) -> None:
    """Say so, and never end."""
    await run.say("working")
    await anyio.sleep_forever()


async def ignore_cancellation(run: FakeRun) -> None:
    """Say so, and clean up for ever."""
    await run.say("working")
    try:
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(60)


def agent(script: Script) -> Application:
    gateway = FakeGateway(script)
    return Application(
        script.__name__,
        [
            Module("fake.gateway", GATEWAY_ACCESS.set(gateway), lifespan=gateway.running),
            gateway_channel("api", InProcessChannel()),
        ],
    )


plain = Application("plain", [])


def __getattr__(name: str) -> Application:
    """`tests.command.agents:calculator` and so on, made when they are asked for."""
    return agent(SCRIPTS[name])


SCRIPTS: dict[str, Script] = {
    "echo_agent": echo,
    "calculator": calculate,
    "writer": write_file,
    "failing": fail,
    "noisy": be_noisy,
    "verbose": answer_at_length,
    "busy": work_forever,
    "stubborn": ignore_cancellation,
}
