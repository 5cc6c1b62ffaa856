"""What a model thought goes back to it through the whole agent, and after a restart too."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from agentslot.interaction import ChannelSession, InProcessChannel, gateway_channel
from agentslot.model import AnthropicModule, ModelConfig, OpenAIResponsesModule
from agentslot.model.provider import ProviderModule
from agentslot.session import FileStoreModule
from agentslot.standardagent import AgentConfig, new_application
from agentslot.tool import ToolsModule, function_tool
from tests.loopback import Answer, loopback
from tests.model.support import case
from tests.model.test_anthropic_decoder import block, stop, tool_use
from tests.model.test_anthropic_decoder import sse as messages_sse
from tests.model.test_responses_decoder import done, end, sse, text


@function_tool
async def bash(command: str) -> str:
    """Run a command."""
    return f"ran {command}"


@asynccontextmanager
async def session_with(
    module: ProviderModule, folder: Path, provider: str, known: str = ""
) -> AsyncGenerator[ChannelSession]:
    """A Session of an agent that keeps its Sessions in `folder`, new or resumed."""
    channel = InProcessChannel()
    application = new_application(
        "test",
        modules=[
            FileStoreModule(folder),
            module,
            ToolsModule(bash),
            gateway_channel("test", channel),
        ],
        config=AgentConfig(system_prompt="Be brief.", tool_keys=("bash",)),
        default_model=ModelConfig(provider=provider, model="m"),
    )
    with anyio.fail_after(20):
        async with application.start():
            if known:
                yield await channel.resume_session(known)
            else:
                yield await channel.create_session(agent="test", workspace="default")


async def test_interleaved_thinking_survives_tools_and_a_restart(tmp_path: Path) -> None:
    content: list[dict[str, Any]] = json.loads(case("T04/interleaved.json"))[1]["content"]
    events: list[dict[str, Any]] = []
    for index, entry in enumerate(content):
        if entry["type"] == "tool_use":
            written = '{ "command":"make test"}'
            events += tool_use(index, written, id=entry["id"], name=entry["name"])
        else:
            events += block(index, entry)
    thought = Answer(messages_sse(*events, *stop("tool_use")))
    fine = Answer(messages_sse(*block(0, {"type": "text", "text": "fine"}), *stop()))
    async with loopback(thought, fine) as server:

        def module() -> AnthropicModule:
            return AnthropicModule(["m"], base_url=server.url, api_key_env=None)

        async with session_with(module(), tmp_path, "anthropic") as session:
            await session.send_and_wait("q")
        async with session_with(module(), tmp_path, "anthropic", session.id) as session:
            await session.send_and_wait("and now?")
    second, third = (request.json()["messages"] for request in server.requests[1:])
    assert second[1]["content"] == third[1]["content"] == content
    assert [block["tool_use_id"] for block in third[2]["content"]] == ["t1", "t2"]
    assert b'"input":{ "command":"make test"}' in server.requests[2].body


async def test_encrypted_reasoning_survives_tools_and_a_restart(tmp_path: Path) -> None:
    thought = done(0, "reasoning", summary=[], encrypted_content="hidden")
    written = '{ "command":"make"}'
    made = done(1, "function_call", call_id="c1", name="bash", arguments=written)
    answers = Answer(sse(thought, made, end())), Answer(sse(text(0, "fine"), end()))
    async with loopback(*answers) as server:

        def module() -> OpenAIResponsesModule:
            return OpenAIResponsesModule(["m"], base_url=server.url, api_key_env=None)

        async with session_with(module(), tmp_path, "openai") as session:
            await session.send_and_wait("q")
        async with session_with(module(), tmp_path, "openai", session.id) as session:
            await session.send_and_wait("and now?")
    sent = server.requests[2].json()["input"]
    assert sent[1] == {
        "id": "i0",
        "type": "reasoning",
        "summary": [],
        "encrypted_content": "hidden",
    }
    assert sent[2] == {**made["item"], "arguments": written}
    assert sent[3] == {"type": "function_call_output", "call_id": "c1", "output": "ran make"}
    assert sent[4]["id"] == "i0"
