"""Attempt observers: told of each request before it is sent and of its end; each may refuse."""

import anyio

from agentslot import Module
from agentslot.model import ATTEMPT_OBSERVER, AttemptOutcome
from agentslot.session import ModelAttempt, RunStatus
from tests.standardagent.agents import agent, answer
from tests.standardagent.test_failing_components import SECRET, Observer, raises


async def test_observers_that_accepted_a_request_hear_that_another_refused_it() -> None:
    heard: list[str] = []

    class Listener:
        def __init__(self, name: str) -> None:
            self._name = name

        async def attempt_started(self, attempt_id: object, request: object) -> None:
            heard.append(f"{self._name} started")

        async def attempt_finished(self, attempt_id: object, outcome: AttemptOutcome) -> None:
            heard.append(f"{self._name} {outcome.error_code}")
            raise RuntimeError(SECRET)  # the others hear of it all the same

    observers = (Listener("a"), Listener("b"), Observer(raises, at_end=False), Listener("c"))
    modules = [Module("test", *(ATTEMPT_OBSERVER.append(each) for each in observers))]
    async with agent([answer("never sent")], modules=modules) as session:
        result = await session.send_and_wait("go")
        view = await session.view()
    assert result.termination.code == "attempt_start_rejected"
    rejected = ["b attempt_start_rejected", "a attempt_start_rejected"]
    assert heard == ["a started", "b started", *rejected]
    assert not any(isinstance(fact.payload, ModelAttempt) for fact in view.recent_history)


async def test_observers_that_accepted_a_request_hear_that_its_run_was_cancelled_meanwhile() -> (
    None
):
    heard: list[str] = []
    asked = anyio.Event()

    class Listener:
        async def attempt_started(self, attempt_id: object, request: object) -> None:
            heard.append("started")

        async def attempt_finished(self, attempt_id: object, outcome: AttemptOutcome) -> None:
            heard.append(outcome.error_code)

    class Slow(Listener):
        async def attempt_started(self, attempt_id: object, request: object) -> None:
            asked.set()
            await anyio.sleep_forever()

    modules = [Module("test", *(ATTEMPT_OBSERVER.append(each) for each in (Listener(), Slow())))]
    async with agent([answer("never sent")], modules=modules) as session:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.send, "go")
            await asked.wait()
            await session.cancel()
        await session.when_idle()
        facts = (await session.view()).recent_history
    assert heard == ["started", "canceled"]
    assert facts[-1].payload.status is RunStatus.CANCELED
