"""Which tools may wait for something, and so need a task of their own."""

from collections.abc import AsyncIterator, Callable
from functools import partial, wraps

import anyio
import anyio.lowlevel
import pytest

from agentslot.tool import function_tool, may_wait


async def adds(a: int, b: int) -> int:
    """Add."""
    return a + b


async def defines_what_waits() -> str:
    """Make a function that waits, and do not call it."""

    async def inner() -> None:
        await anyio.lowlevel.checkpoint()

    return inner.__name__


async def numbers() -> AsyncIterator[int]:
    """Count."""
    yield 1


async def awaits() -> None:
    """Wait."""
    await anyio.lowlevel.checkpoint()


async def iterates() -> None:
    """Wait for values."""
    async for _ in numbers():
        pass


async def comprehends() -> list[int]:
    """Wait for values, in one expression."""
    return [each async for each in numbers()]


async def enters() -> None:
    """Wait for a beginning and an end."""
    async with anyio.Lock():
        pass


def blocks(a: int) -> int:
    """Run in a thread."""
    return a


@wraps(adds)
async def wrapped(a: int, b: int) -> int:
    return await adds(a, b)


class Adder:
    async def adds(self, a: int) -> int:
        """Add."""
        return a

    async def __call__(self, a: int) -> int:
        """Add."""
        return a


@pytest.mark.parametrize("function", [adds, defines_what_waits, Adder().adds])
def test_an_async_function_without_await_never_waits(function: Callable[..., object]) -> None:
    assert not may_wait(function_tool(function))


@pytest.mark.parametrize(
    "function",
    [awaits, iterates, comprehends, enters, blocks, wrapped, Adder(), partial(adds, b=1)],
    ids=["await", "async for", "a loop", "async with", "sync", "wrapped", "object", "partial"],
)
def test_anything_else_may_wait(function: Callable[..., object]) -> None:
    assert may_wait(function_tool(name="it", description="Does it.")(function))


def test_a_tool_with_a_timeout_may_wait() -> None:
    assert may_wait(function_tool(timeout_seconds=1)(adds))
