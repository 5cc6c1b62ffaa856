"""Functions as tools that do what nobody expects of them: each call fails alone, or just works."""

import json
import os
import sys
import threading
from collections.abc import Awaitable
from functools import wraps
from pathlib import Path
from typing import Annotated

import anyio
import anyio.to_thread
from pydantic import Field

from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.model import ModelConfig
from agentslot.model.testing import ScriptedModule, calls_answer, text_answer
from agentslot.session import MemoryStoreModule, ToolResult
from agentslot.standardagent import AgentConfig, new_application
from agentslot.tool import FilesModule, ToolInvocation, ToolsModule, function_tool
from tests.tool.invoking import invoke, output


def code(result: ToolResult) -> str:
    assert result.error is not None
    return result.error.code


async def test_half_a_character_in_a_result_becomes_the_replacement_character() -> None:
    @function_tool
    def names() -> dict[str, list[str]]:
        return {"names": ["caf\udce9", "plain"]}

    result = await invoke(names)

    assert json.loads(result.output or "") == {"names": ["caf\ufffd", "plain"]}


def test_a_text_in_an_annotation_describes_the_parameter() -> None:
    @function_tool
    def measure(
        a: Annotated[int, "in metres"], b: Annotated[str | None, "for whom"] = None
    ) -> None:
        """Measure.

        Args:
            a: from the docstring
        """

    assert measure.definition.input_schema["properties"] == {
        "a": {"type": "integer", "description": "in metres"},
        "b": {"type": "string", "description": "for whom"},
    }


async def test_an_invocation_may_be_optional_and_annotated() -> None:
    @function_tool
    def who(first: ToolInvocation | None = None) -> str:
        return "nobody" if first is None else first.call.name

    @function_tool
    def noted(call: Annotated[ToolInvocation, "hidden"]) -> str:
        return call.call.name

    for tool in (who, noted):
        assert tool.definition.input_schema["properties"] == {}
        assert output(await invoke(tool)) == tool.definition.name
    assert who() == "nobody"


async def test_an_async_function_behind_a_plain_decorator_is_awaited() -> None:
    async def add(a: int, b: int) -> int:
        return a + b

    @wraps(add)
    def logged(*args: int, **kwargs: int) -> Awaitable[int]:
        return add(*args, **kwargs)

    assert (await invoke(function_tool(logged), a=1, b=2)).output == "3"


async def test_a_function_that_exits_fails_alone() -> None:
    @function_tool
    def leave() -> None:
        sys.exit(3)

    assert code(await invoke(leave)) == "tool_internal"


async def test_functions_that_hang_leave_the_threads_of_others_alone() -> None:
    release = threading.Event()

    @function_tool(timeout_seconds=0.01)
    def hang() -> None:
        release.wait()

    shared = anyio.to_thread.current_default_thread_limiter()
    tokens, shared.total_tokens = shared.total_tokens, 1
    try:
        for _ in range(2):
            assert code(await invoke(hang)) == "timeout"
        with anyio.fail_after(5):
            await anyio.to_thread.run_sync(release.is_set)
    finally:
        shared.total_tokens = tokens
        release.set()


async def test_a_turn_goes_on_after_a_function_that_exits_and_among_odd_names(
    tmp_path: Path,
) -> None:
    @function_tool
    def leave() -> None:
        sys.exit(3)

    @function_tool
    def names(folder: str = Field(str(tmp_path), description="which one")) -> list[str]:
        return os.listdir(folder)

    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"needle\n")
    calls = calls_answer(
        ("leave", {}),
        ("names", {}),
        ("file_search", {"pattern": "needle"}),
        ("file_read", {"path": "caf\ufffd.txt"}),
    )
    channel = InProcessChannel()
    application = new_application(
        "odd",
        modules=[
            MemoryStoreModule(),
            ScriptedModule(calls, text_answer("done")),
            ToolsModule(leave, names),
            FilesModule(tmp_path),
            gateway_channel("api", channel),
        ],
        config=AgentConfig(tool_keys=("leave", "names", "file_search", "file_read")),
        default_model=ModelConfig(provider="guide", model="scripted"),
    )

    async with application.start():
        session = await channel.create_session(agent="odd", workspace="default")
        answer = await session.send_and_wait("Look around.")
        facts = (await session.history()).facts

    results = [fact.payload for fact in facts if isinstance(fact.payload, ToolResult)]
    assert answer.text == "done"
    assert code(results[0]) == "tool_internal"
    assert results[1].output == '["caf\ufffd.txt"]'
    assert "caf\ufffd.txt\n1:needle" in output(results[2])
    assert output(results[3]).startswith("needle\n")
