"""What an agent's tools and their arguments look like to the server of its model."""

from collections.abc import Sequence
from typing import Any

from agentslot import Module
from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.model import ModelConfig, OpenAICompatibleModule
from agentslot.session import MemoryStoreModule
from agentslot.standardagent import AgentConfig, new_application
from agentslot.tool import Effect, FunctionTool, ToolsModule, function_tool
from tests.loopback import Answer, Loopback, loopback
from tests.model.test_openai_compatible import HELLO


@function_tool(effect=Effect.PURE)
def count(b: float, a: int) -> str:
    """Counts."""
    return f"{a} and {b}"


async def bodies(
    module: Module, server: Loopback, tools: Sequence[FunctionTool[..., Any]], turns: int = 1
) -> list[Any]:
    """What an agent with these tools sends, whose model the module reaches at the server."""
    channel = InProcessChannel()
    application = new_application(
        "counter",
        modules=[
            MemoryStoreModule(),
            ToolsModule(*tools),
            gateway_channel("test", channel),
            module,
        ],
        config=AgentConfig(
            system_prompt="Be brief.", tool_keys=tuple(tool.definition.name for tool in tools)
        ),
        default_model=ModelConfig("vendor", "m"),
    )
    async with application.start():
        session = await channel.create_session(agent="counter", workspace="w")
        for _ in range(turns):
            assert (await session.send_and_wait("hi")).text == "hi"
    return [sent.json() for sent in server.requests]


def call_of(arguments: str) -> Answer:
    """An answer that calls the tool; the arguments stand in it as they are written here."""
    called = f'{{"id":"c1","function":{{"name":"count","arguments":{arguments}}}}}'
    choice = f'{{"delta":{{"tool_calls":[{called}]}},"finish_reason":"tool_calls"}}'
    return Answer(f'data: {{"choices":[{choice}]}}\n\ndata: [DONE]\n\n'.encode())


async def test_arguments_that_came_as_an_object_go_back_as_they_were_spelled() -> None:
    written = '{"b": 1.0, "a":12345678901234567890}'
    async with loopback(call_of(written), HELLO) as server:
        module = OpenAICompatibleModule(f"{server.url}/v1", ["m"], provider="vendor")
        _, second = await bodies(module, server, [count])
    _, _, called, result = second["messages"]
    assert called["tool_calls"][0]["function"]["arguments"] == written
    assert result["content"] == "12345678901234567890 and 1.0"
