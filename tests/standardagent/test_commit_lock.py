"""The lock of a Session: in the order of coming, and never lost with one who gave up."""

import anyio
from anyio.lowlevel import checkpoint

from agentslot.standardagent.runtime.owner import CommitLock


async def test_who_waits_gets_the_lock_in_the_order_of_coming() -> None:
    lock, order = CommitLock(), list[str]()

    async def work(name: str) -> None:
        async with lock:
            order.append(name)
            await checkpoint()

    async with anyio.create_task_group() as tasks:
        await lock.__aenter__()
        for name in ("first", "second", "third"):
            tasks.start_soon(work, name)
            await anyio.wait_all_tasks_blocked()
        await lock.__aexit__()
        async with lock:
            order.append("late")

    assert order == ["first", "second", "third", "late"]


async def test_one_who_gives_up_waiting_leaves_the_lock_to_the_next() -> None:
    lock, given_up, done = CommitLock(), anyio.CancelScope(), anyio.Event()

    async def give_up() -> None:
        with given_up:
            async with lock:
                raise AssertionError("it gave up")

    async def work() -> None:
        async with lock:
            done.set()

    async with anyio.create_task_group() as tasks, lock:
        tasks.start_soon(give_up)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(work)
        await anyio.wait_all_tasks_blocked()
        given_up.cancel()
    assert done.is_set()
    async with lock:
        pass


async def test_one_who_gives_up_as_the_lock_comes_to_him_passes_it_on() -> None:
    lock, given_up = CommitLock(), anyio.CancelScope()

    async def give_up() -> None:
        with given_up:
            async with lock:
                await anyio.sleep_forever()

    async with anyio.create_task_group() as tasks:
        async with lock:
            tasks.start_soon(give_up)
            await anyio.wait_all_tasks_blocked()
        given_up.cancel()
    async with lock:
        pass
