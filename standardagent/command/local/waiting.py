"""Something that takes a while, and a person who sees that it goes on."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio


@asynccontextmanager
async def waiting(text: str) -> AsyncGenerator[None]:
    """Show a line on standard error while the block runs, with a dot for each second."""
    print(text, end="", flush=True, file=sys.stderr)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_dots)
            yield
            tasks.cancel_scope.cancel()
    finally:
        print(file=sys.stderr)


async def _dots() -> None:
    while True:
        await anyio.sleep(1)
        print(".", end="", flush=True, file=sys.stderr)
