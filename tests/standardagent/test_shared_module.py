"""One module object in two applications at once."""

import anyio

from agentslot import Application
from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.model import ModelConfig, OpenAICompatibleModule
from agentslot.session import MemoryStoreModule
from agentslot.standardagent import new_application
from tests.loopback import Answer, loopback
from tests.model.test_openai_compatible import HELLO


def sharing(module: OpenAICompatibleModule, channel: InProcessChannel) -> Application:
    return new_application(
        "a",
        modules=[MemoryStoreModule(), module, gateway_channel("test", channel)],
        default_model=ModelConfig("openai", "m"),
    )


async def test_an_answer_goes_on_when_another_application_with_the_same_module_stops() -> None:
    begun, stopped = anyio.Event(), anyio.Event()
    texts: list[str] = []

    async def hold(_: int) -> None:
        if not begun.is_set():
            begun.set()
            await stopped.wait()

    async def ask() -> None:
        session = await channel.create_session(agent="a", workspace="w")
        texts.append((await session.send_and_wait("hi")).text)

    slow = Answer(HELLO.body, chunk=20, after_piece=hold)
    channel, other = InProcessChannel(), InProcessChannel()
    async with loopback(slow, HELLO) as server:
        module = OpenAICompatibleModule(f"{server.url}/v1", ["m"])
        async with sharing(module, channel).start(), anyio.create_task_group() as tasks:
            async with sharing(module, other).start():
                tasks.start_soon(ask)
                with anyio.fail_after(10):
                    await begun.wait()
            stopped.set()
    assert texts == ["hi"]
    assert len(server.requests) == 1
