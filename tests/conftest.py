"""Every asynchronous test runs on asyncio and on trio, and nothing of ours may block the loop."""

from collections.abc import Iterator

import pytest
from blockbuster import blockbuster_ctx
from hypothesis import HealthCheck, settings

# How long an example takes says nothing on a busy machine; a test that hangs has its own timeout.
# The same examples each time, so that a change is judged by what it changes; the reliability gate
# draws new ones.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("agentslot", settings.get_profile("explore"), derandomize=True)
settings.load_profile("agentslot")

MAY_BLOCK = {
    "/agentslot/_where.py": {"of_class"},  # where a module is written, for an error message
    "/importlib/metadata/__init__.py": {"version", "entry_points"},  # what is installed
    "/_config.py": {"create_ssl_context"},  # an HTTP client that is made looks for the trust store
    "/tool/process/group.py": {"is_alive"},  # /proc lies in memory
}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


@pytest.fixture(scope="session", autouse=True)
def nothing_of_ours_blocks_the_loop() -> Iterator[None]:
    """A blocking call below a function of agentslot raises; seen on asyncio alone."""
    with blockbuster_ctx("agentslot") as blockbuster:
        # One look at whether and where something is takes less than the way to a thread.
        for name in ("os.stat", "os.access", "os.getcwd", "os.path.abspath"):
            blockbuster.functions[name].deactivate()
        for function in blockbuster.functions.values():
            for file, callers in MAY_BLOCK.items():
                function.can_block_in(file, callers)
        yield
