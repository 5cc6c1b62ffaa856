"""Running until somebody says stop."""

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio import Event, create_task_group, fail_after, sleep_forever, to_thread

from agentslot import Application, AssemblyStarted, Module, RequirementUnsatisfied
from tests.core.catalog import COUNT, Journal


def on_start(action: Event) -> Module:
    """A module that says when everything before it has started."""

    @asynccontextmanager
    async def lifespan() -> AsyncGenerator[None]:
        action.set()
        yield

    return Module("test.started", lifespan=lifespan)


def closing_badly() -> Module:
    @asynccontextmanager
    async def lifespan() -> AsyncGenerator[None]:
        try:
            yield
        finally:
            raise OSError("close")

    return Module("test.closing-badly", lifespan=lifespan)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_the_run_in_order_and_is_no_error(number: signal.Signals) -> None:
    journal, started = Journal(), Event()
    application = Application("test", [journal.module("a"), on_start(started)])

    with fail_after(20):
        async with create_task_group() as tasks:
            tasks.start_soon(application.run)
            await started.wait()
            os.kill(os.getpid(), number)

    assert journal[0] == "start a"
    assert journal[-1] == "stop a"


async def test_a_signal_during_the_start_rolls_back() -> None:
    journal, reached = Journal(), Event()

    @asynccontextmanager
    async def slow() -> AsyncGenerator[None]:
        reached.set()
        await sleep_forever()
        yield

    application = Application("test", [journal.module("a"), Module("slow", lifespan=slow)])
    with fail_after(20):
        async with create_task_group() as tasks:
            tasks.start_soon(application.run)
            await reached.wait()
            os.kill(os.getpid(), signal.SIGTERM)

    assert journal[-1] == "stop a"


async def test_cancelling_a_run_stops_it_in_order_and_goes_on_outward() -> None:
    journal, started = Journal(), Event()
    application = Application("test", [journal.module("a"), on_start(started)])
    returned: list[str] = []

    async def run() -> None:
        await application.run()
        returned.append("returned")

    with fail_after(20):
        async with create_task_group() as tasks:
            tasks.start_soon(run)
            await started.wait()
            tasks.cancel_scope.cancel()

    assert journal[-1] == "stop a"
    assert returned == []


async def test_an_error_of_a_stop_is_raised_after_a_signal() -> None:
    started = Event()
    application = Application("test", [closing_badly(), on_start(started)])
    errors: list[Exception] = []

    async def run() -> None:
        try:
            await application.run()
        except ExceptionGroup as group:
            errors.extend(group.exceptions)

    with fail_after(20):
        async with create_task_group() as tasks:
            tasks.start_soon(run)
            await started.wait()
            os.kill(os.getpid(), signal.SIGTERM)

    assert [str(error) for error in errors] == ["close"]


async def test_an_error_of_the_build_is_raised_itself() -> None:
    with pytest.raises(RequirementUnsatisfied):
        await Application("test", [], [COUNT.required()]).run()


async def test_an_error_of_the_start_is_raised_itself() -> None:
    @asynccontextmanager
    async def failing() -> AsyncGenerator[None]:
        raise OSError("port taken")
        yield

    application = Application("test", [Module("a", lifespan=failing)])
    with pytest.raises(OSError, match="port taken"):
        await application.run()
    with pytest.raises(AssemblyStarted):
        await application.run()


async def test_outside_the_main_thread_there_are_no_signals_and_cancelling_works() -> None:
    journal = Journal()

    async def run() -> None:
        application = Application("test", [journal.module("a")])
        async with create_task_group() as tasks:
            tasks.start_soon(application.run)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()

    with fail_after(20):
        await to_thread.run_sync(anyio.run, run)

    assert journal[0] == "start a"
    assert journal[-1] == "stop a"
