"""Every asynchronous test runs on asyncio and on trio, and nothing of ours may block the loop."""

from collections.abc import Iterator

import pytest
from blockbuster import blockbuster_ctx

MAY_BLOCK = {
    "/agentslot/_where.py": "of_class",  # where a module is written, for an error message
    "/importlib/metadata/__init__.py": "version",  # our own version
    "/_config.py": "create_ssl_context",  # an HTTP client that is made looks for the trust store
}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


@pytest.fixture(scope="session", autouse=True)
def nothing_of_ours_blocks_the_loop() -> Iterator[None]:
    """A blocking call below a function of agentslot raises; seen on asyncio alone."""
    with blockbuster_ctx("agentslot") as blockbuster:
        # They ask the process and not the disk.
        for name in ("os.getcwd", "os.path.abspath"):
            blockbuster.functions[name].deactivate()
        for function in blockbuster.functions.values():
            for file, caller in MAY_BLOCK.items():
                function.can_block_in(file, caller)
        yield
