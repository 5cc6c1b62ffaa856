"""The referees of observers: ours pass, and each of their checks finds what it is for."""

import time
from pathlib import Path
from typing import Any

import pytest

from agentslot import Module
from agentslot.standardagent import (
    AUDIT_SINKS,
    METRIC_SINKS,
    TRACE_SINKS,
    USAGE_RECORDERS,
    JsonLinesSinkModule,
    OpenTelemetryModule,
    ToolDecision,
)
from agentslot.standardagent.conformance import (
    AUDIT_SINK_SUITE,
    COMMIT_OBSERVER_SUITE,
    METRIC_SINK_SUITE,
    TRACE_SINK_SUITE,
    USAGE_RECORDER_SUITE,
    asking,
)
from agentslot.standardagent.conformance.observe import ObserverKind, observed
from tests.standardagent.conformance.judging import broken_rules
from tests.standardagent.conformance.wrong import Work, stubborn, unready

SUITES = {
    suite.contract: suite
    for suite in (
        TRACE_SINK_SUITE,
        METRIC_SINK_SUITE,
        AUDIT_SINK_SUITE,
        USAGE_RECORDER_SUITE,
        COMMIT_OBSERVER_SUITE,
    )
}
SINKS = [contract for contract in SUITES if "commit" not in contract]
OF_SINKS = pytest.mark.parametrize("contract", SINKS)
OF_ALL = pytest.mark.parametrize("contract", SUITES)


class Observer:
    """Of every kind; `work` is what it does with what it is told."""

    def __init__(self, work: Work) -> None:
        self.record_trace: Any = work
        self.record_metric: Any = work
        self.record_audit: Any = work
        self.record_usage: Any = work
        self.observe_session_commit: Any = work


async def forget(_: object) -> None:
    pass


@OF_ALL
async def test_an_observer_that_does_nothing_conforms(contract: str) -> None:
    await SUITES[contract].check(lambda: Observer(forget))


@OF_SINKS
async def test_json_lines_conform(contract: str, tmp_path: Path) -> None:
    await SUITES[contract].check(lambda: JsonLinesSinkModule(tmp_path / "log.jsonl"))


async def test_open_telemetry_conforms() -> None:
    await TRACE_SINK_SUITE.check(OpenTelemetryModule)


async def raises(_: object) -> None:
    raise OSError("disk full")


async def blocks(_: object) -> None:
    enough = time.perf_counter() + 0.001
    while time.perf_counter() < enough:
        pass


TAKES = "it_takes_everything_that_it_is_told"
KEEPS = "it_does_not_keep_the_event_loop"
CANCELLED = "a_record_that_is_cancelled_ends"
MANY = "sessions_at_the_same_time_do_not_disturb_each_other"


@OF_ALL
@pytest.mark.parametrize(
    ("work", "rule", "said"),
    [
        (raises, TAKES, "disk full"),
        (blocks, KEEPS, "it keeps the event loop"),
        (stubborn(forget), CANCELLED, "goes on"),
    ],
)
async def test_a_broken_observer_fails_the_check_that_is_for_it(
    contract: str, work: Work, rule: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rule == KEEPS:
        monkeypatch.setattr(asking, "STEP_SECONDS", 0.0005)
    if rule == CANCELLED:
        monkeypatch.setattr(asking, "CANCEL_SECONDS", 0.0)
    found = await broken_rules(SUITES[contract], lambda: Observer(work))
    assert list(found) == [rule]
    assert said in found[rule]


async def test_a_commit_observer_that_is_not_ready_for_two_sessions_is_found() -> None:
    found = await broken_rules(COMMIT_OBSERVER_SUITE, lambda: Observer(unready(forget)))
    assert list(found) == [MANY]


@OF_ALL
async def test_a_module_without_an_observer_conforms_to_nothing(contract: str) -> None:
    suite = SUITES[contract]
    found = await broken_rules(suite, lambda: Module("empty"))
    assert len(found) == len(suite.checks)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (
            ObserverKind(TRACE_SINKS, "record_trace"),
            {
                *("runtime.opened", "runtime.closed", "run.started", "run.completed"),
                *("run.canceled", "run.failed", "tool.started", "tool.completed"),
                *("model.attempt.started", "model.attempt.completed", "model.attempt.failed"),
            },
        ),
        (
            ObserverKind(METRIC_SINKS, "record_metric"),
            {"agent.run.total", "agent.tool.call.total", "agent.model.attempt.total"},
        ),
        (
            ObserverKind(AUDIT_SINKS, "record_audit"),
            {"allow", "deny", "approval_required", "model.config.changed"},
        ),
        (ObserverKind(USAGE_RECORDERS, "record_usage"), {"obedient"}),
    ],
    ids=lambda value: getattr(value, "method", ""),
)
async def test_an_observer_is_told_of_every_kind_of_thing(
    kind: ObserverKind, told: set[str]
) -> None:
    records, _ = await observed(kind, lambda: Observer(forget), 1)

    def name(record: Any) -> str:
        if isinstance(record, ToolDecision):
            return record.verdict
        return str(getattr(record, "kind", getattr(record, "model", "")))

    names = {getattr(record, "name", None) or name(record) for record in records}
    assert told <= names
