"""What tests/conftest.py promises to every test."""

import time

import anyio
import pytest
import trio
from blockbuster import BlockingError

import agentslot


async def test_an_asynchronous_test_runs_on_the_backend_it_is_named_after(
    anyio_backend_name: str,
) -> None:
    assert trio.lowlevel.in_trio_run() == (anyio_backend_name == "trio")


def test_a_synchronous_test_runs_once(request: pytest.FixtureRequest) -> None:
    assert "anyio_backend" not in request.fixturenames


async def test_a_blocking_call_of_ours_is_noticed_on_asyncio(anyio_backend_name: str) -> None:
    # Code that seems to lie inside the package, since none of it may block.
    blocks = compile("time.sleep(0)", f"{agentslot.__path__[0]}/blocks.py", "exec")

    if anyio_backend_name == "asyncio":
        with pytest.raises(BlockingError):
            exec(blocks, {"time": time})
    await anyio.to_thread.run_sync(exec, blocks, {"time": time})
    time.sleep(0)  # noqa: ASYNC251 - a test itself may block
