"""The referee of approval services: the desk passes, and each check finds what it is for."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import ClassVar

import anyio
import pytest

from agentslot.session import SessionId
from agentslot.standardagent import ApprovalAnswer, ApprovalDesk, ApprovalRequest
from agentslot.standardagent.conformance import APPROVAL_SERVICE_SUITE, Approver, OpenApprover
from agentslot.standardagent.runtime import calling
from tests.standardagent.conformance.judging import broken_rules
from tests.standardagent.conformance.wrong import some_rounds


def approver(make: Callable[[], ApprovalDesk] = ApprovalDesk) -> OpenApprover:
    @asynccontextmanager
    async def open_approver() -> AsyncGenerator[Approver]:
        desk = make()

        async def answer(request: ApprovalRequest, approved: bool) -> None:
            desk.answer(request.action.session_id, request.digest, ApprovalAnswer(approved))

        yield Approver(desk, answer)

    return open_approver


async def test_the_desk_conforms() -> None:
    await APPROVAL_SERVICE_SUITE.check(approver())


class Optimist(ApprovalDesk):
    """Says yes before it asks, and whatever is answered."""

    async def decide(self, request: ApprovalRequest) -> ApprovalAnswer:
        return ApprovalAnswer(True)

    def answer(self, session_id: SessionId, digest: str, answer: ApprovalAnswer) -> None:
        pass


class YesMan(ApprovalDesk):
    """Waits for an answer, and takes it for a yes."""

    async def decide(self, request: ApprovalRequest) -> ApprovalAnswer:
        await super().decide(request)
        return ApprovalAnswer(True)


class OneAtATime(ApprovalDesk):
    """Gives every answer to whoever waits."""

    def answer(self, session_id: SessionId, digest: str, answer: ApprovalAnswer) -> None:
        for waiting in self._waiting.values():
            waiting.answer = answer
            waiting.answered.set()


class Slow(ApprovalDesk):
    """Tidies up for a long time."""

    async def decide(self, request: ApprovalRequest) -> ApprovalAnswer:
        try:
            return await super().decide(request)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await some_rounds()
            raise


class Remembers(ApprovalDesk):
    """Asks nobody twice."""

    asked: ClassVar[set[str]] = set()

    async def decide(self, request: ApprovalRequest) -> ApprovalAnswer:
        if request.digest in self.asked:
            return ApprovalAnswer(False, "asked before")
        self.asked.add(request.digest)
        return await super().decide(request)

    def answer(self, session_id: SessionId, digest: str, answer: ApprovalAnswer) -> None:
        if self._waiting:
            super().answer(session_id, digest, answer)


OBEYS = "a_call_waits_for_its_answer_and_obeys_it"
ALL = [judge.__name__ for judge in APPROVAL_SERVICE_SUITE.checks]


@pytest.mark.parametrize(
    ("desk", "rules", "said"),
    [
        (Optimist, ALL, "before anybody had answered"),
        (YesMan, [OBEYS, "an_answer_goes_to_its_own_request"], "2 calls came"),
        (OneAtATime, ["an_answer_goes_to_its_own_request"], "led to"),
        (Slow, ["a_wait_that_is_cancelled_ends"], "goes on though it was cancelled"),
        (Remembers, ["the_next_process_asks_again"], "in the next process"),
    ],
)
async def test_a_broken_service_fails_the_checks_that_are_for_it(
    desk: type[ApprovalDesk], rules: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if desk is Slow:
        monkeypatch.setattr(calling, "GRACE_SECONDS", 0.0)
    found = await broken_rules(APPROVAL_SERVICE_SUITE, approver(desk))
    assert list(found) == rules
    assert said in found[rules[0]]
