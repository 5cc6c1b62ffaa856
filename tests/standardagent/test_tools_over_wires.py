"""What an agent's tools and their arguments look like to the server of its model."""

from collections.abc import Sequence
from typing import Any

from agentslot import Module
from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.model import CompatibilityProfile, ModelConfig, OpenAICompatibleModule
from agentslot.session import MemoryStoreModule
from agentslot.standardagent import AgentConfig, new_application
from agentslot.standardagent.runtime.toolset import ToolSet
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


@function_tool(effect=Effect.PURE, strict=True, name="count")
def held(b: float, a: int) -> str:
    """Counts."""
    return f"{a} and {b}"


async def test_a_strict_tool_is_strict_at_a_server_that_knows_the_word() -> None:
    profile = CompatibilityProfile(strict_tools=True)
    async with loopback(call_of('"{}"'), HELLO) as server:
        module = OpenAICompatibleModule(
            f"{server.url}/v1", ["m"], provider="vendor", profile=profile
        )
        for sent in await bodies(module, server, [held]):
            assert [tool["function"]["strict"] for tool in sent["tools"]] == [True]


def test_what_was_recorded_of_a_request_tells_which_tools_were_strict() -> None:
    assert ToolSet.of([held.definition]).text != ToolSet.of([count.definition]).text


async def test_the_cache_marks_move_on_with_the_conversation() -> None:
    profile = CompatibilityProfile(cache_control=True)
    mark = {"type": "ephemeral"}
    async with loopback(call_of('"{\\"a\\":1,\\"b\\":2}"'), HELLO) as server:
        module = OpenAICompatibleModule(
            f"{server.url}/v1", ["m"], provider="vendor", profile=profile
        )
        sent = await bodies(module, server, [count], turns=2)
    for request, last in zip(sent, ("hi", "1 and 2.0", "hi"), strict=True):
        system, *_, newest = request["messages"]
        assert request["tools"][-1]["cache_control"] == mark
        assert system["content"][-1]["cache_control"] == mark
        assert newest["content"] == [{"type": "text", "text": last, "cache_control": mark}]
        assert str(request).count("cache_control") == 3
