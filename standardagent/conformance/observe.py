"""The referees of passive observation: four kinds of sinks, and commit observers."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

import anyio

from agentslot import Chain, Module
from agentslot._conformance import Suite, check, demand
from agentslot.interaction import ChannelSession
from agentslot.session import ModelConfig, RunStatus
from agentslot.standardagent.conformance.asking import (
    expect_end_when_cancelled,
    expect_no_blocking,
)
from agentslot.standardagent.conformance.stage import Make, Stage, first, part, staged
from agentslot.standardagent.observe import (
    AUDIT_SINKS,
    COMMIT_OBSERVERS,
    METRIC_SINKS,
    TRACE_SINKS,
    USAGE_RECORDERS,
    CommitNotice,
)
from agentslot.standardagent.policy import Decision, PolicyEffect, PolicyModule, ToolRules

Observer = Any  # the five contracts have one shape, but no type in common


@dataclass(frozen=True, slots=True)
class ObserverKind:
    """One kind of observer, and the name of its one method."""

    slot: Chain[Observer]
    method: str

    def told(self, observer: Observer, record: object) -> Callable[[], Coroutine[Any, Any, None]]:
        """Tells an observer of a record."""
        return partial(getattr(observer, self.method), record)


class Onlooker:
    """An observer of every kind that remembers what it was told."""

    def __init__(self) -> None:
        self.records: list[Any] = []
        self._news = anyio.Event()

    async def _take(self, record: object) -> None:
        self.records.append(record)
        self._news.set()

    record_trace = record_metric = record_audit = record_usage = observe_session_commit = _take

    async def until(self, known: Callable[[], bool]) -> None:
        """Wait until it has been told of something."""
        while not known():
            self._news = anyio.Event()
            await self._news.wait()


async def _live(stage: Stage, session: ChannelSession) -> None:
    """A life in which there is something to tell of each kind."""
    await session.send_and_wait("call note look! send nobody")
    await session.send_and_wait("break")
    await session.update_model_config(ModelConfig("conformance", "another"))
    await session.send("wait hello")
    await stage.model.waiting(session.id)
    await session.cancel()
    await stage.expect_end(session, RunStatus.CANCELED)


_POLICY = ToolRules(
    {
        "note": Decision(PolicyEffect.ALLOW),
        "send": Decision(PolicyEffect.REQUIRE_APPROVAL, "it cannot be taken back"),
    },
    fallback=Decision(PolicyEffect.DENY, "not here"),
)


async def observed(kind: ObserverKind, make: Make, sessions: int) -> tuple[list[Any], list[str]]:
    """What there was to tell in the lives of Sessions, and what the log has against observers."""
    onlooker = Onlooker()
    # Behind the observers under test: what it knows, they know.
    watching = Module("conformance.onlooker", kind.slot.append(onlooker))
    modules = part(kind.slot, make), watching, PolicyModule(_POLICY)
    async with staged(*modules) as stage:
        stage.subjects(kind.slot)
        opened = [await stage.session() for _ in range(sessions)]
        async with anyio.create_task_group() as tasks:
            for session in opened:
                tasks.start_soon(_live, stage, session)
        if kind.slot is COMMIT_OBSERVERS:  # what waits when a Session is closed is discarded
            revisions = {session.id: session.revision for session in opened}
            known = partial(_knows, onlooker.records, revisions)
            await onlooker.until(known)
    return onlooker.records, stage.complaints


def _knows(notices: Sequence[CommitNotice], revisions: dict[Any, int]) -> bool:
    newest = {notice.session_id: notice.revision for notice in notices}
    return all(newest.get(session, 0) >= revision for session, revision in revisions.items())


async def it_takes_everything_that_it_is_told(kind: ObserverKind, make: Make) -> None:
    """It fails at nothing, keeps nobody waiting, and comes to an end with its application."""
    _, complaints = await observed(kind, make, 1)
    demand(not complaints, first(complaints))


async def sessions_at_the_same_time_do_not_disturb_each_other(
    kind: ObserverKind, make: Make
) -> None:
    """One observer is told of all Sessions: it fails with others no more than alone."""
    _, alone = await observed(kind, make, 1)
    _, together = await observed(kind, make, 3)
    demand(bool(alone) or not together, first(together))


async def it_does_not_keep_the_event_loop(kind: ObserverKind, make: Make) -> None:
    """What takes long waits for it, in a thread if need be: everybody shares the loop."""
    records, _ = await observed(kind, make, 1)
    async with staged(part(kind.slot, make)) as stage:
        for observer in stage.subjects(kind.slot):
            for record in _one_of_each(records):
                await expect_no_blocking(kind.told(observer, record))


async def a_record_that_is_cancelled_ends(kind: ObserverKind, make: Make) -> None:
    """Who takes too long is cancelled, and lets that pass."""
    records, _ = await observed(kind, make, 1)
    async with staged(part(kind.slot, make)) as stage:
        for observer in stage.subjects(kind.slot):
            await expect_end_when_cancelled(kind.told(observer, records[0]))


def _one_of_each(records: Sequence[object]) -> list[object]:
    """The first record of each kind."""
    first: dict[object, object] = {}
    for record in records:
        first.setdefault((record.__class__, getattr(record, "kind", "")), record)
    return list(first.values())


def _suite(slot: Chain[Observer], method: str) -> Suite[Make]:
    kind = ObserverKind(slot, method)
    checks = [
        it_takes_everything_that_it_is_told,
        it_does_not_keep_the_event_loop,
        a_record_that_is_cancelled_ends,
    ]
    if slot is COMMIT_OBSERVERS:  # the others are told of one thing at a time
        checks.append(sessions_at_the_same_time_do_not_disturb_each_other)
    return Suite(f"{slot.id}/v1", tuple(_of(kind, each) for each in checks))


def _of(
    kind: ObserverKind, judge: Callable[[ObserverKind, Make], Coroutine[Any, Any, None]]
) -> Callable[[Make], Coroutine[Any, Any, None]]:
    @check
    @wraps(judge)
    async def run(make: Make) -> None:
        await judge(kind, make)

    return run


TRACE_SINK_SUITE = _suite(TRACE_SINKS, "record_trace")
METRIC_SINK_SUITE = _suite(METRIC_SINKS, "record_metric")
AUDIT_SINK_SUITE = _suite(AUDIT_SINKS, "record_audit")
USAGE_RECORDER_SUITE = _suite(USAGE_RECORDERS, "record_usage")
COMMIT_OBSERVER_SUITE = _suite(COMMIT_OBSERVERS, "observe_session_commit")
