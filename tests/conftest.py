"""Every asynchronous test runs on asyncio and on trio, and nothing of ours may block the loop."""

from collections.abc import Iterator

import pytest
from blockbuster import blockbuster_ctx


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


@pytest.fixture(scope="session", autouse=True)
def nothing_of_ours_blocks_the_loop() -> Iterator[None]:
    """A blocking call below a function of agentslot raises; seen on asyncio alone."""
    with blockbuster_ctx("agentslot"):
        yield
