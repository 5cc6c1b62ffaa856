"""Attempt observers: told of each request before it is sent and of its end; each may refuse."""

from agentslot import Module
from agentslot.model import ATTEMPT_OBSERVER, AttemptOutcome
from agentslot.session import ModelAttempt
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
