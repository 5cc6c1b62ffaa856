"""Sinks that fail, hang or cannot keep up: no Run notices."""

import logging

import anyio
import pytest

from agentslot import Module
from agentslot.interaction import InProcessChannel
from agentslot.session import RunStatus
from agentslot.standardagent import (
    OBSERVATION_HUB,
    TRACE_SINKS,
    MetricKind,
    MetricRecord,
    TraceRecord,
)
from agentslot.standardagent.observe import hub as hub_module
from agentslot.standardagent.observe.hub import OBSERVATION_BUFFER, ObservationHub
from tests.standardagent.agents import ScriptedModel, agent, answer, scripted_application
from tests.standardagent.observe.recording import Recording


class Raising:
    async def record_trace(self, record: TraceRecord) -> None:
        raise RuntimeError("no disk")


class CancellingItself:
    async def record_trace(self, record: TraceRecord) -> None:
        # As libraries do that let a cancellation of their own slip.
        raise anyio.get_cancelled_exc_class()


class Blocking:
    """Takes the first record and keeps it until it is released."""

    def __init__(self) -> None:
        self.entered = anyio.Event()
        self.released = anyio.Event()
        self.taken = 0

    async def record_trace(self, record: TraceRecord) -> None:
        self.entered.set()
        await self.released.wait()
        self.taken += 1

    async def record_metric(self, record: MetricRecord) -> None:
        self.entered.set()
        await self.released.wait()
        self.taken += 1


def sink(component: object) -> Module:
    return Module("test.sink", TRACE_SINKS.append(component))  # type: ignore[arg-type]  # also none


async def test_a_sink_that_raises_disturbs_neither_the_run_nor_the_other_sinks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    recording = Recording()
    async with agent([answer("ok")], modules=[sink(Raising()), recording.module()]) as session:
        result = await session.send_and_wait("go")
    assert result.status is RunStatus.COMPLETED
    assert "run.completed" in recording.kinds
    (logged,) = [entry for entry in caplog.records if entry.levelno >= logging.ERROR]
    assert "observer Raising failed" in logged.getMessage()
    assert logged.exc_info is not None


async def test_a_sink_that_cancels_itself_cancels_nothing_else(
    anyio_backend_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    if anyio_backend_name == "trio":
        pytest.skip("trio lets nobody raise its Cancelled")
    recording = Recording()
    modules = [sink(CancellingItself()), recording.module()]
    async with agent([answer("ok")], modules=modules) as session:
        result = await session.send_and_wait("go")
    assert result.status is RunStatus.COMPLETED
    assert "run.completed" in recording.kinds
    assert "cancelled itself" in caplog.text


async def test_a_run_does_not_wait_for_a_sink_that_blocks() -> None:
    blocking = Blocking()
    async with agent([answer("ok")], modules=[sink(blocking)]) as session:
        await blocking.entered.wait()
        result = await session.send_and_wait("go")
        assert result.status is RunStatus.COMPLETED
        assert blocking.taken == 0
        blocking.released.set()


async def test_what_waits_when_the_application_stops_is_still_delivered() -> None:
    blocking = Blocking()
    async with agent([answer("ok")], modules=[sink(blocking)]) as session:
        await session.send_and_wait("go")
        blocking.released.set()
    assert blocking.taken == 6


async def test_a_sink_that_hangs_does_not_keep_the_application_from_stopping(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hub_module, "DRAIN_SECONDS", 0.0)
    blocking = Blocking()
    async with agent([answer("ok")], modules=[sink(blocking)]) as session:
        await session.send_and_wait("go")
    assert blocking.taken == 0
    assert "their last records are lost" in caplog.text


async def test_a_sink_that_takes_too_long_is_cut_short_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hub_module, "SINK_SECONDS", 0.0)
    recording = Recording()
    async with agent([answer("ok")], modules=[sink(Blocking()), recording.module()]) as session:
        await session.send_and_wait("go")
    assert recording.kinds[-1] == "runtime.closed"
    assert caplog.text.count("observer Blocking took longer than 0 seconds") == 1


async def test_a_full_buffer_drops_new_records_and_counts_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    blocking = Blocking()
    hub = ObservationHub(metrics=[blocking])
    record = MetricRecord("test", MetricKind.COUNTER, 1)
    async with hub.delivering():
        hub.metric(record)
        await blocking.entered.wait()
        for _ in range(OBSERVATION_BUFFER + 3):
            hub.metric(record)
        assert hub.dropped == 3
        blocking.released.set()
    assert blocking.taken == 1 + OBSERVATION_BUFFER
    assert caplog.text.count("cannot keep up") == 1


async def test_the_assembly_says_how_many_records_were_dropped() -> None:
    application = scripted_application(ScriptedModel([]), InProcessChannel())
    assert application.build()[OBSERVATION_HUB].dropped == 0


async def test_without_sinks_nothing_runs_beside_the_sessions() -> None:
    async with agent([answer("ok")]) as session:
        await session.send_and_wait("go")
        names = {task.name or "" for task in anyio.get_running_tasks()}
    assert not [name for name in names if "observ" in name]


async def test_a_cancelled_application_still_says_how_its_runs_ended() -> None:
    recording = Recording()
    with anyio.CancelScope() as scope:
        held = [answer("slow", hold=anyio.Event())]
        async with agent(held, modules=[recording.module()]) as session:
            await session.send("go")
            await session.executor.streaming.wait()
            scope.cancel()
    assert recording.kinds[-3:] == ["model.attempt.failed", "run.canceled", "runtime.closed"]
