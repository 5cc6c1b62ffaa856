"""Whatever a component does, its place in the Runtime decides what follows.

A component raises, hangs, answers with something else or cancels itself. Then the policy of its
place holds, the record has a safe message, and the cause stands in the log alone.
"""

import asyncio  # noqa: TID251  # a native cancellation is what is tested
import logging
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import anyio
import pytest

from agentslot import Contribution, Module
from agentslot.interaction import InputGateError
from agentslot.model import ATTEMPT_OBSERVER
from agentslot.session import (
    MessageInput,
    RunFact,
    RunStatus,
    TextPart,
    ToolResult,
)
from agentslot.standardagent import (
    AGENT_LOOP,
    APPROVAL_SERVICE,
    CONTEXT_COMPACTOR,
    CONTEXT_SOURCES,
    POLICY_GUARDS,
    AgentConfig,
    ApprovalAnswer,
    Compaction,
    Decision,
    PolicyEffect,
    PolicyModule,
    Preset,
)
from agentslot.standardagent.hook import (
    AGENT_HOOKS,
    COMPLETION_GATES,
    INPUT_GATES,
    SESSION_LIFECYCLES,
    TOOL_PREFLIGHTS,
    TOOL_RESULT_HOOKS,
    LifecycleScope,
    ToolResultScope,
    ToolScope,
)
from agentslot.standardagent.runtime import calling
from agentslot.tool import Effect, function_tool
from tests.standardagent.agents import (
    agent,
    answer,
    call,
    calls,
)
from tests.standardagent.hooks.hooking import Hook

AT_ONCE = 1e-9
"""Seconds of a deadline that is over before anything can happen."""

SECRET = "password=hunter2"

Misbehave = Callable[[], Awaitable[Any]]


async def raises() -> None:
    raise RuntimeError(SECRET)


async def exits() -> None:
    """As a function does that was written for a command line."""
    sys.exit(3)


async def exits_in_a_group() -> None:
    raise BaseExceptionGroup("errors of a task group", [RuntimeError(SECRET), SystemExit(3)])


async def hangs() -> None:
    await anyio.sleep_forever()


async def answers_otherwise() -> str:
    return SECRET


async def raises_a_cancellation() -> None:
    """As libraries do that let a cancellation of their own slip."""
    raise anyio.get_cancelled_exc_class()


async def cancels_its_task() -> None:
    leaves_a_cancellation_behind()
    await anyio.lowlevel.checkpoint()


def leaves_a_cancellation_behind() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel(SECRET)


class Component:
    """Fits every place that is no typed hook, and misbehaves in all of them."""

    key = "broken"
    run: Any  # like the others, it fits whichever contract it is put into
    evaluate: Any
    decide: Any
    contribute: Any
    compact: Any
    before_run_complete: Any
    count_tokens: Any
    select: Any

    def __init__(self, misbehave: Misbehave) -> None:
        async def asked(_: object) -> Any:
            return await misbehave()

        self.run = self.evaluate = self.decide = self.count_tokens = self.select = asked
        self.contribute = self.compact = self.before_run_complete = asked


class Observer:
    """Misbehaves at the beginning of an attempt, or at its end."""

    def __init__(self, misbehave: Misbehave, *, at_end: bool) -> None:
        self._misbehave = misbehave
        self._at_end = at_end

    async def attempt_started(self, attempt_id: object, request: object) -> None:
        if not self._at_end:
            await self._misbehave()

    async def attempt_finished(self, attempt_id: object, outcome: object) -> None:
        if self._at_end:
            await self._misbehave()


class BrokenHook(Hook):
    def __init__(self, misbehave: Misbehave, scope: object = None) -> None:
        super().__init__("broken", lambda _: None, scope=scope)
        self._misbehave = misbehave

    async def evaluate(self, view: object) -> Any:
        return await self._misbehave()


class Hurry:
    """Once a request may be sent, the time of components is what it says."""

    def __init__(self, config: AgentConfig, seconds: float) -> None:
        self._config = config
        self._seconds = seconds

    async def attempt_started(self, attempt_id: object, request: object) -> None:
        object.__setattr__(self._config, "component_timeout_seconds", self._seconds)

    async def attempt_finished(self, attempt_id: object, outcome: object) -> None:
        pass


PLACES: dict[str, Callable[[Misbehave], Contribution] | None] = {
    "input gate": lambda it: INPUT_GATES.append(BrokenHook(it)),
    "preflight": lambda it: TOOL_PREFLIGHTS.append(BrokenHook(it, ToolScope())),
    "result hook": lambda it: TOOL_RESULT_HOOKS.append(BrokenHook(it, ToolResultScope())),
    "completion gate": lambda it: COMPLETION_GATES.append(BrokenHook(it)),
    "lifecycle": lambda it: SESSION_LIFECYCLES.append(BrokenHook(it, LifecycleScope())),
    "agent hook": lambda it: AGENT_HOOKS.append(Component(it)),
    "guard": lambda it: POLICY_GUARDS.append(Component(it)),
    "source": lambda it: CONTEXT_SOURCES.append(Component(it)),
    "compactor": lambda it: CONTEXT_COMPACTOR.set(Component(it)),
    "counter": None,
    "observer": lambda it: ATTEMPT_OBSERVER.append(Observer(it, at_end=False)),
    "observer at the end": lambda it: ATTEMPT_OBSERVER.append(Observer(it, at_end=True)),
    "approval service": lambda it: APPROVAL_SERVICE.set(Component(it)),
    "loop": lambda it: AGENT_LOOP.set(Component(it)),
}
"""Where a component stands; one that counts tokens is given to the agent instead of the model."""
PATIENT = ("approval service", "loop")  # who waits for people may take as long as they do
TOLD = ("observer", "observer at the end")  # nobody looks at what they return
IMPATIENT = [place for place in PLACES if place not in PATIENT]

FATE = {
    "input gate": "not submitted: unavailable/extension_failed",
    "preflight": "interrupted: extension_failed, note: tool_batch_aborted",
    "result hook": "interrupted: extension_failed, note: succeeded",
    "completion gate": "interrupted: extension_failed, note: succeeded",
    "lifecycle": "completed, note: succeeded",
    "agent hook": "completed, note: succeeded",
    "guard": "completed, note: policy_error",
    "source": "failed: context_preparation_failed",
    "compactor": "failed: context_preparation_failed, note: succeeded",
    "counter": "failed: context_preparation_failed",
    "observer": "failed: attempt_start_rejected",
    "observer at the end": "failed: attempt_observer_failed",
    "approval service": "completed, note: approval_error",
    "loop": "failed: loop_failed",
}
"""What becomes of a Run with one call, by the place of the component that fails in it."""

LATE = {
    place: told.replace("extension_failed", "extension_deadline_exceeded").replace(
        "unavailable/extension_d", "deadline_exceeded/extension_d"
    )
    for place, told in FATE.items()
}


@asynccontextmanager
async def broken(place: str, misbehave: Misbehave, *, seconds: float = 600) -> AsyncGenerator[Any]:
    """A Session with a component that misbehaves, and one tool, which notes that it ran."""

    @function_tool(effect=Effect.WRITE)
    async def note(n: int) -> str:
        """Note a number."""
        return "noted"

    contribute = PLACES[place]
    modules = [] if contribute is None else [Module("broken", contribute(misbehave))]
    if place == "approval service":
        modules.append(PolicyModule(Preset.ASK_FOR_WRITES))
    config = AgentConfig(
        tool_keys=("note",),
        component_timeout_seconds=seconds,
        hard_token_limit=1 if place == "compactor" else 0,
    )
    script = [calls(call("note", n=1)), answer("done")]
    if place == "observer at the end" and seconds == AT_ONCE:
        # Or there was no time for the beginning either.
        config = replace(config, component_timeout_seconds=600)
        modules.append(Module("hurry", ATTEMPT_OBSERVER.append(Hurry(config, seconds))))
    counter = Component(misbehave) if contribute is None else None
    async with agent(
        script, tools=[note], config=config, modules=modules, counter=counter
    ) as session:
        yield session


async def fate(session: Any) -> str:
    """What becomes of a Run, in words, and of the one call in it. No secret is on the record."""
    try:
        result = await session.send_and_wait("go")
    except InputGateError as error:
        told, message = f"not submitted: {error.kind}/{error.code}", str(error)
    else:
        ended = result.termination
        told, message = result.status.value, "" if ended is None else ended.message
        told += "" if ended is None else f": {ended.code}"
    view = await session.view()
    for result in (fact.payload for fact in view.recent_history):
        if isinstance(result, ToolResult):
            told += f", note: {result.error.code if result.error else result.status}"
            message += result.error.message if result.error else ""
    assert SECRET not in message
    assert SECRET not in repr(view.recent_extension_diagnostics)
    await session.close()
    return told


@pytest.mark.parametrize(
    ("place", "misbehave"),
    [
        (place, misbehave)
        for place in PLACES
        for misbehave in (raises, exits, exits_in_a_group, answers_otherwise)
        if place not in TOLD or misbehave is not answers_otherwise
    ],
)
async def test_a_component_raises_or_answers_with_something_else(
    place: str, misbehave: Misbehave, caplog: pytest.LogCaptureFixture
) -> None:
    async with broken(place, misbehave) as session:
        told = await fate(session)
    if (place, misbehave) == ("loop", answers_otherwise):
        assert told == "failed: loop_protocol_violation"
    else:
        assert told == FATE[place]
    if (place, misbehave) == ("compactor", answers_otherwise):
        assert "which is no Compaction" in caplog.text
    logged = [entry for entry in caplog.records if entry.levelno >= logging.ERROR]
    assert logged or (place, misbehave) == ("loop", answers_otherwise)


@pytest.mark.parametrize("place", IMPATIENT)
async def test_a_component_hangs(place: str, caplog: pytest.LogCaptureFixture) -> None:
    async with broken(place, hangs, seconds=AT_ONCE) as session:
        assert await fate(session) == LATE[place]
    assert "took longer than 1e-09 seconds" in caplog.text


@pytest.mark.parametrize("place", IMPATIENT)
async def test_a_component_hangs_and_does_not_let_itself_be_cancelled(
    place: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(calling, "GRACE_SECONDS", 0.0)
    released = anyio.Event()

    async def shields_itself() -> None:
        with anyio.CancelScope(shield=True):
            await released.wait()

    async with broken(place, shields_itself, seconds=AT_ONCE) as session:
        assert await fate(session) == LATE[place]
        released.set()
    assert "goes on though it was cancelled" in caplog.text


async def answers_late() -> Decision:
    with suppress(anyio.get_cancelled_exc_class()):
        await anyio.sleep_forever()
    return Decision(PolicyEffect.ALLOW)


async def fails_late() -> None:
    try:
        await anyio.sleep_forever()
    finally:
        raise RuntimeError(SECRET)


@pytest.mark.parametrize("misbehave", [answers_late, fails_late])
@pytest.mark.parametrize("place", ["guard", "completion gate"])
async def test_what_a_component_does_when_its_time_is_over_does_not_count(
    place: str, misbehave: Misbehave, caplog: pytest.LogCaptureFixture
) -> None:
    async with broken(place, misbehave, seconds=AT_ONCE) as session:
        assert await fate(session) == LATE[place]
    assert "took longer than 1e-09 seconds" in caplog.text


@pytest.mark.parametrize("misbehave", [raises_a_cancellation, cancels_its_task])
@pytest.mark.parametrize("place", PLACES)
async def test_a_component_cancels_itself(
    place: str, misbehave: Misbehave, anyio_backend_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    if anyio_backend_name == "trio":
        pytest.skip("trio lets nobody raise its Cancelled")
    async with broken(place, misbehave) as session:
        assert await fate(session) == FATE[place]
    assert "cancelled itself" in caplog.text or place == "loop"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_cancellation_that_a_component_has_left_behind_reaches_nobody() -> None:
    async def allows() -> Decision:
        leaves_a_cancellation_behind()
        return Decision(PolicyEffect.ALLOW)

    async with broken("guard", allows) as session:
        assert await fate(session) == "completed, note: succeeded"


# What is told to an observer at the end is a fact already: only its deadline ends that.
UNCANCELLED = ("input gate", "lifecycle", "observer at the end")


async def cancelled_while_it_waits(
    place: str, waits: Callable[[], Awaitable[None]], entered: anyio.Event
) -> None:
    """Cancel a Run that waits for a component: it ends as canceled."""
    async with broken(place, waits) as session:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.send, "go")
            await entered.wait()
            await session.cancel()
        await session.when_idle()
        *_, last = (await session.view()).recent_history
    assert isinstance(last.payload, RunFact)
    assert last.payload.status is RunStatus.CANCELED


@pytest.mark.parametrize("place", [p for p in PLACES if p not in UNCANCELLED])
async def test_a_run_that_waits_for_a_component_can_be_cancelled(place: str) -> None:
    entered = anyio.Event()

    async def waits() -> None:
        entered.set()
        await anyio.sleep_forever()

    await cancelled_while_it_waits(place, waits, entered)


@pytest.mark.parametrize("place", [p for p in PLACES if p not in UNCANCELLED])
async def test_a_component_that_fails_while_it_is_cancelled_harms_nobody(place: str) -> None:
    """On trio the cancellation and the error come out of a task group together."""
    entered = anyio.Event()

    async def fails() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise RuntimeError(SECRET)

    async def waits() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fails)
            tasks.start_soon(anyio.sleep_forever)
            entered.set()

    await cancelled_while_it_waits(place, waits, entered)


@pytest.mark.parametrize("place", IMPATIENT)
async def test_without_a_deadline_a_component_takes_as_long_as_it_likes(place: str) -> None:
    asked = 0

    async def thinks_long() -> None:
        nonlocal asked
        asked += 1
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        raise RuntimeError

    async with broken(place, thinks_long, seconds=0) as session:
        assert await fate(session) == FATE[place]
    assert asked


async def not_messages() -> Sequence[object]:
    return [MessageInput.of("all good"), "and this?"]


async def compaction_of_texts() -> Compaction:
    return Compaction(0, ("shorter",))  # type: ignore[arg-type]  # on purpose


async def no_decision() -> Decision:
    return Decision("perhaps", "who knows")  # type: ignore[arg-type]  # on purpose


async def no_reason() -> Decision:
    return Decision(PolicyEffect.DENY, [TextPart("no")])  # type: ignore[arg-type]  # on purpose


async def truthy_denial() -> ApprovalAnswer:
    return ApprovalAnswer("no")  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize(
    ("place", "misbehave"),
    [
        ("source", not_messages),
        ("compactor", compaction_of_texts),
        ("guard", no_decision),
        ("guard", no_reason),
        ("approval service", truthy_denial),
    ],
)
async def test_an_answer_that_only_looks_right_is_a_failure(
    place: str, misbehave: Misbehave
) -> None:
    async with broken(place, misbehave) as session:
        assert await fate(session) == FATE[place]


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
def test_a_deadline_is_no_negative_number(seconds: float) -> None:
    with pytest.raises(ValueError, match="component_timeout_seconds must be 0"):
        AgentConfig(component_timeout_seconds=seconds)
