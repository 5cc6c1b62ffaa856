"""Functions as tools that do what nobody expects of them: each call fails alone, or just works."""

import json
import sys
import threading
from collections.abc import Awaitable
from functools import wraps

import anyio
import anyio.to_thread

from agentslot.session import ToolResult
from agentslot.tool import function_tool
from tests.tool.invoking import invoke


def code(result: ToolResult) -> str:
    assert result.error is not None
    return result.error.code


async def test_half_a_character_in_a_result_becomes_the_replacement_character() -> None:
    @function_tool
    def names() -> dict[str, list[str]]:
        return {"names": ["caf\udce9", "plain"]}

    result = await invoke(names)

    assert json.loads(result.output or "") == {"names": ["caf\ufffd", "plain"]}


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
