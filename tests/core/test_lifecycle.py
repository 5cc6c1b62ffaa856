"""Lifespans are entered in dependency order and left in reverse, whatever happens."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import pytest
from anyio import CancelScope, Event, create_task_group, fail_after, sleep_forever
from anyio.lowlevel import checkpoint

from agentslot import Application, AssemblyStarted, InvalidModule, Module, One, Requirement
from tests.core.catalog import COUNT, Journal, place


def application(*modules: Module) -> Application:
    return Application("test", modules)


def failing(
    name: str,
    *requires: Requirement,
    opening: Exception | None = None,
    closing: BaseException | None = None,
    journal: Journal | None = None,
) -> Module:
    """A module whose lifespan fails as it opens, or as it closes."""

    @asynccontextmanager
    async def lifespan() -> AsyncGenerator[None]:
        if opening is not None:
            raise opening
        try:
            yield
        finally:
            if journal is not None:
                journal.append(f"stop {name}")
            if closing is not None:
                raise closing

    return Module(name, requires=requires, lifespan=lifespan)


async def test_lifespans_start_in_dependency_order_and_stop_in_reverse() -> None:
    journal = Journal()
    app = application(journal.module("a", place("b").required()), journal.module("b"))

    async with app.start() as runtime:
        journal.append("body")
        assert runtime.assembly is app.build()

    assert journal == ["start b", "start a", "body", "stop a", "stop b"]


async def test_a_module_class_has_a_lifespan_as_a_method() -> None:
    journal = Journal()

    class Living(Module):
        id = "test.living"

        @asynccontextmanager
        async def lifespan(self) -> AsyncGenerator[None]:
            journal.append(f"start {self.id}")
            yield
            journal.append(f"stop {self.id}")

    async with application(Living()).start():
        pass

    assert journal == ["start test.living", "stop test.living"]


async def test_the_error_of_the_body_is_seen_by_every_lifespan_and_raised_itself() -> None:
    """D05"""
    journal = Journal()
    error = ValueError("body")

    with pytest.raises(ValueError, match="body") as caught:
        async with application(journal.module("r1"), journal.module("r2")).start():
            raise error

    assert caught.value is error
    assert journal == [
        "start r1",
        "start r2",
        "r2 sees ValueError",
        "stop r2",
        "r1 sees ValueError",
        "stop r1",
    ]


async def test_what_was_opened_is_closed_when_a_later_lifespan_fails_to_open() -> None:
    """D05"""
    journal = Journal()
    error = OSError("port taken")
    app = application(journal.module("r1"), journal.module("r2"), failing("r3", opening=error))

    with pytest.raises(OSError, match="port taken") as caught:
        async with app.start():
            raise AssertionError("started")

    assert caught.value is error
    assert "module 'r3'" in error.__notes__[0]
    assert journal == [
        "start r1",
        "start r2",
        "r2 sees OSError",
        "stop r2",
        "r1 sees OSError",
        "stop r1",
    ]


async def test_what_was_opened_is_closed_when_the_start_is_cancelled() -> None:
    """D05"""
    journal = Journal()
    reached = Event()

    @asynccontextmanager
    async def slow() -> AsyncGenerator[None]:
        reached.set()
        await sleep_forever()
        yield

    async def start(scope: CancelScope) -> None:
        with scope:
            async with application(
                journal.module("r1"), journal.module("r2"), Module("r3", lifespan=slow)
            ).start():
                raise AssertionError("started")

    scope = CancelScope()
    with fail_after(20):
        async with create_task_group() as tasks:
            tasks.start_soon(start, scope)
            await reached.wait()
            scope.cancel()

    assert scope.cancelled_caught
    assert [event for event in journal if "sees" not in event] == [
        "start r1",
        "start r2",
        "stop r2",
        "stop r1",
    ]


async def test_a_cancelled_start_is_cancelled_even_if_closing_fails() -> None:
    journal = Journal()
    with CancelScope() as scope:
        async with application(
            failing("r1", closing=OSError("close"), journal=journal),
            Module("r2", lifespan=lambda: cancelling(scope)),
        ).start():
            raise AssertionError("started")

    assert scope.cancelled_caught
    assert journal == ["stop r1"]


@asynccontextmanager
async def cancelling(scope: CancelScope) -> AsyncGenerator[None]:
    scope.cancel()
    await sleep_forever()
    yield


async def test_a_cancelled_body_stops_in_order_and_closing_is_not_cancelled() -> None:
    journal = Journal()

    @asynccontextmanager
    async def slow_to_close() -> AsyncGenerator[None]:
        try:
            yield
        finally:
            await checkpoint()
            journal.append("closed")

    with CancelScope() as scope:
        async with application(journal.module("r1"), Module("r2", lifespan=slow_to_close)).start():
            scope.cancel()
            await sleep_forever()

    assert scope.cancelled_caught
    assert journal[-1] == "stop r1"
    assert "closed" in journal


async def test_a_task_group_in_a_lifespan_does_not_take_a_cancellation_from_outside() -> None:
    journal = Journal()

    @asynccontextmanager
    async def working() -> AsyncGenerator[None]:
        async with create_task_group() as tasks:
            tasks.start_soon(sleep_forever)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    with CancelScope() as scope:
        async with application(journal.module("r1"), Module("r2", lifespan=working)).start():
            scope.cancel()
            await sleep_forever()

    assert scope.cancelled_caught
    assert journal[-2].startswith("r1 sees Cancelled")


async def test_a_lifespan_that_fails_to_close_does_not_keep_the_others_from_closing() -> None:
    """D05"""
    journal = Journal()
    first, third = OSError("first"), OSError("third")
    app = application(
        failing("r1", closing=first, journal=journal),
        journal.module("r2"),
        failing("r3", closing=third, journal=journal),
    )

    with pytest.raises(ExceptionGroup) as caught:
        async with app.start():
            pass

    assert caught.value.exceptions == (third, first)
    assert "module 'r3'" in third.__notes__[0]
    assert "module 'r1'" in first.__notes__[0]
    assert journal == ["start r2", "stop r3", "stop r2", "stop r1"]


async def test_the_error_of_the_body_and_those_of_closing_are_joined() -> None:
    body, closing = ValueError("body"), OSError("close")

    with pytest.raises(ExceptionGroup) as caught:
        async with application(failing("r1", closing=closing)).start():
            raise body

    assert caught.value.exceptions == (body, closing)


async def test_what_ends_the_process_while_closing_tells_the_error_of_the_body_too() -> None:
    class EndOfTheProcess(BaseException):
        pass

    with pytest.raises(EndOfTheProcess) as caught:
        async with application(failing("r1", closing=EndOfTheProcess())).start():
            raise ValueError("body")

    assert "moreover: ValueError('body')" in caught.value.__notes__


async def test_a_failed_start_and_a_failed_rollback_are_joined() -> None:
    opening, closing = ValueError("open"), OSError("close")

    with pytest.raises(ExceptionGroup) as caught:
        async with application(
            failing("r1", closing=closing), failing("r2", opening=opening)
        ).start():
            raise AssertionError("started")

    assert caught.value.exceptions == (opening, closing)


@asynccontextmanager
async def with_task_group(journal: Journal, crash: Event | None = None) -> AsyncGenerator[None]:
    """A lifespan that holds a task group open, with a task that may crash."""

    async def serve() -> None:
        try:
            if crash is None:
                await sleep_forever()
            else:
                await crash.wait()
                raise RuntimeError("crashed")
        finally:
            journal.append("server ended")

    async with create_task_group() as tasks:
        tasks.start_soon(serve)
        yield
        tasks.cancel_scope.cancel()


async def test_lifespans_may_hold_task_groups_open() -> None:
    journal = Journal()
    app = application(
        Module("r1", lifespan=lambda: with_task_group(journal)),
        journal.module("r2"),
        Module("r3", lifespan=lambda: with_task_group(journal)),
    )

    with fail_after(20):
        async with app.start():
            await checkpoint()

    assert journal == ["start r2", "server ended", "stop r2", "server ended"]


async def test_the_error_of_the_body_comes_out_of_task_groups_unwrapped() -> None:
    """D05"""
    journal = Journal()
    error = ValueError("body")
    app = application(
        Module("r1", lifespan=lambda: with_task_group(journal)),
        journal.module("r2"),
        Module("r3", lifespan=lambda: with_task_group(journal)),
    )

    with fail_after(20), pytest.raises(ValueError, match="body") as caught:
        async with app.start():
            raise error

    assert caught.value is error
    assert "r2 sees ValueError" in journal


async def test_a_crash_in_the_background_ends_the_body_and_is_what_the_caller_sees() -> None:
    journal = Journal()
    crash = Event()
    app = application(
        journal.module("r1"),
        Module("r2", lifespan=lambda: with_task_group(journal, crash)),
        journal.module("r3"),
    )

    crash.set()
    with fail_after(20), pytest.raises(ExceptionGroup) as caught:
        async with app.start():
            await sleep_forever()

    (group,) = caught.value.exceptions
    assert "module 'r2'" in group.__notes__[0]
    assert caught.group_contains(RuntimeError, match="crashed", depth=2)
    assert journal[-2:] == ["r1 sees ExceptionGroup", "stop r1"]


async def test_a_crash_that_passes_through_other_task_groups_is_reported_once() -> None:
    journal = Journal()
    crash = Event()
    app = application(
        Module("r1", lifespan=lambda: with_task_group(journal)),
        Module("r2", lifespan=lambda: with_task_group(journal, crash)),
    )

    crash.set()
    with fail_after(20), pytest.raises(ExceptionGroup) as caught:
        async with app.start():
            await sleep_forever()

    assert len(caught.value.exceptions) == 1


async def test_a_crash_in_the_background_during_the_start_is_what_the_caller_sees() -> None:
    journal = Journal()
    crash = Event()

    @asynccontextmanager
    async def waiting() -> AsyncGenerator[None]:
        crash.set()
        await sleep_forever()
        yield

    app = application(
        journal.module("r1"),
        Module("r2", lifespan=lambda: with_task_group(journal, crash)),
        Module("r3", lifespan=waiting),
    )

    with fail_after(20), pytest.raises(ExceptionGroup) as caught:
        async with app.start():
            raise AssertionError("started")

    assert caught.group_contains(RuntimeError, match="crashed", depth=2)
    assert journal[-1] == "stop r1"


async def test_a_lifespan_may_take_the_error_of_the_body_but_not_that_of_a_start() -> None:
    @asynccontextmanager
    async def forgiving() -> AsyncGenerator[None]:
        with suppress(ValueError):
            yield

    async with application(Module("r1", lifespan=forgiving)).start():
        raise ValueError("forgiven")

    with pytest.raises(ValueError, match="open"):
        async with application(
            Module("r1", lifespan=forgiving), failing("r2", opening=ValueError("open"))
        ).start():
            raise AssertionError("started")


class Connection:
    """Something that has to be opened before others can use it."""

    def __init__(self, name: str, journal: Journal, *below: "Connection") -> None:
        self.name, self.journal, self.below = name, journal, below
        self.is_open = False

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        assert all(each.is_open for each in self.below)
        self.journal.append(f"open {self.name}")
        self.is_open = True
        yield
        assert all(each.is_open for each in self.below)
        self.is_open = False
        self.journal.append(f"close {self.name}")


class ConnectionModule(Module):
    """Constructs a connection out of those it needs, and opens it while the application runs."""

    connection: Connection

    def __init__(self, name: str, journal: Journal, *below: One[Connection]) -> None:
        self.id = name
        self.requires = [slot.required() for slot in below]
        self.slot = One[Connection](f"test.connection.{name}")
        self.below = below
        self.journal = journal

    def register(self, registrar: Any) -> None:
        def construct(resolver: Any) -> Connection:
            below = [resolver[slot] for slot in self.below]
            self.connection = Connection(self.id, self.journal, *below)
            return self.connection

        registrar.contribute(self.slot.set_with(construct))

    def lifespan(self) -> AbstractAsyncContextManager[None]:
        return self.connection.opened()


async def test_a_resource_finds_the_ones_below_it_open_and_a_shared_one_opens_once() -> None:
    """D06"""
    journal = Journal()
    database = ConnectionModule("database", journal)
    session = ConnectionModule("session", journal, database.slot)
    left = ConnectionModule("left", journal, session.slot)
    right = ConnectionModule("right", journal, session.slot, database.slot)

    async with application(right, left, session, database).start() as runtime:
        assert runtime.assembly[right.slot].below == (session.connection, database.connection)
        assert all(module.connection.is_open for module in (database, session, left, right))

    assert journal == [
        "open database",
        "open session",
        "open right",
        "open left",
        "close left",
        "close right",
        "close session",
        "close database",
    ]


async def test_an_application_starts_once() -> None:
    app = application(Module("a"))
    async with app.start():
        with pytest.raises(AssemblyStarted):
            async with app.start():
                raise AssertionError("started")

    with pytest.raises(AssemblyStarted):
        async with app.start():
            raise AssertionError("started")


async def test_an_application_that_failed_to_start_does_not_start_again() -> None:
    app = application(failing("a", opening=OSError("port taken")))
    with pytest.raises(OSError, match="port taken"):
        async with app.start():
            raise AssertionError("started")

    with pytest.raises(AssemblyStarted):
        async with app.start():
            raise AssertionError("started")


async def test_a_module_that_was_replaced_is_not_started() -> None:
    def never() -> AbstractAsyncContextManager[None]:
        raise AssertionError("started")

    app = application(Module("a", COUNT.set_default(1), lifespan=never), Module("b", COUNT.set(2)))
    async with app.start() as runtime:
        assert [module.id for module in runtime.assembly.modules] == ["b"]


async def test_a_lifespan_that_returns_no_context_manager_is_refused() -> None:
    def lifespan() -> Any:
        return None

    with pytest.raises(InvalidModule, match="no asynchronous context manager"):
        async with application(Module("a", lifespan=lifespan)).start():
            raise AssertionError("started")
