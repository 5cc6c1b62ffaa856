"""A store in a process of its own, on a disk that is full for a while."""

import os
import sys
from pathlib import Path

import anyio

_FILL = """
import sys, resource, anyio
from agentslot.session import {store}, ClassifiedError
from tests.session.scenario import *

async def main():
    async with {store}(sys.argv[1]) as store:
        state = await store.create(new_session())
        resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, -1))
        said = None
        for number in range(100):
            message = AppendMessage(user(f"u{{number}}", "x" * 8000, run=None))
            try:
                state = (await store.commit(request(state, f"key-{{number}}", message))).state
            except ClassifiedError as error:
                said = error.code
                break
        print(len(state.history), said)
        resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
        await store.commit(request(state, "after", AppendMessage(user("after", run=None))))

anyio.run(main)
"""


async def fill(store: str, path: Path, limit: int) -> tuple[int, str]:
    """Commit to session `s1` until no file may grow beyond the limit, and once more without limit.

    Args:
        store: name of the class of the store.
        path: where it keeps its Sessions.
        limit: bytes of a file.

    Returns:
        How many facts were acknowledged under the limit, and the code of the refusal.
    """
    root = Path(__file__).parents[2]
    child = await anyio.run_process(
        [sys.executable, "-c", _FILL.format(store=store, limit=limit), str(path)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    count, said = child.stdout.decode().split()
    return int(count), said
