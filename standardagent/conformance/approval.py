"""The referee of `approval.service/v1`: a service with somebody who answers.

```python
from agentslot.standardagent.conformance import APPROVAL_SERVICE_SUITE, Approver

@asynccontextmanager
async def approver():
    desk = ApprovalDesk()

    async def answer(request, approved):
        desk.answer(request.action.session_id, request.digest, ApprovalAnswer(approved))

    yield Approver(desk, answer)

async def test_my_service_is_an_approval_service() -> None:
    await APPROVAL_SERVICE_SUITE.check(approver)
```
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import anyio

from agentslot import Module
from agentslot._conformance import Suite, check, demand
from agentslot.session import MemoryStore, RunStatus
from agentslot.standardagent.conformance.stage import Stage, staged
from agentslot.standardagent.policy import (
    APPROVAL_SERVICE,
    ApprovalAnswer,
    ApprovalRequest,
    ApprovalService,
    PolicyModule,
    Preset,
)


@dataclass(frozen=True, slots=True)
class Approver:
    """A service, and a person to answer.

    Attributes:
        answer: called with a request that the service was given, and True for yes; answers it as
            the person would. The service may have been given others meanwhile.
    """

    service: ApprovalService
    answer: Callable[[ApprovalRequest, bool], Awaitable[None]]


OpenApprover = Callable[[], AbstractAsyncContextManager[Approver]]
"""Opens the service of one process; what it returns is entered once and left at the end."""


class _Door:
    """Stands before the service and remembers what it is asked."""

    def __init__(self, approver: Approver) -> None:
        self._approver = approver
        self._requests: list[ApprovalRequest] = []
        self._news = anyio.Event()

    async def decide(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Ask the service."""
        self._requests.append(request)
        self._news.set()
        return await self._approver.service.decide(request)

    async def request(self, number: int = 1) -> ApprovalRequest:
        """The request with that number, once it has come."""
        while len(self._requests) < number:
            self._news = anyio.Event()
            await self._news.wait()
        return self._requests[number - 1]

    async def answer(self, request: ApprovalRequest, *, approved: bool) -> None:
        """Let the person answer."""
        await self._approver.answer(request, approved)


@asynccontextmanager
async def _opened(
    open_approver: OpenApprover, disk: MemoryStore | None = None
) -> AsyncGenerator[tuple[Stage, _Door]]:
    """A stage on which every call that writes needs an approval."""
    async with open_approver() as approver:
        door = _Door(approver)
        service = Module("conformance.subject", APPROVAL_SERVICE.set(door))
        policy = PolicyModule(Preset.ASK_FOR_WRITES)
        async with staged(service, policy, disk=disk) as stage:
            yield stage, door


@check
async def a_call_waits_for_its_answer_and_obeys_it(open_approver: OpenApprover) -> None:
    """A yes lets it run, a no does not, and before that it has not run."""
    async with _opened(open_approver) as (stage, door):
        session = await stage.session()
        for number, approved in enumerate((True, False), 1):
            await session.send("call note")
            request = await door.request(number)
            await anyio.wait_all_tasks_blocked()
            expected = ["note"] * (number - 1)
            demand(stage.made == expected, "the call was made before anybody had answered")
            await door.answer(request, approved=approved)
            await stage.expect_end(session, RunStatus.COMPLETED)
        *_, result = await stage.results(session.id)
        demand(stage.made == ["note"], f"of a yes and a no, {len(stage.made)} calls came")
        code = "" if result.error is None else result.error.code
        demand(code == "approval_denied", f"a no became {code or 'a result'}{stage.complained()}")


@check
async def an_answer_goes_to_its_own_request(open_approver: OpenApprover) -> None:
    """Calls of several Sessions wait at the same time, and are answered in any order."""
    async with _opened(open_approver) as (stage, door):
        first, second = await stage.session(), await stage.session()
        await first.send("call note")
        denied = await door.request(1)
        await second.send("call send")
        await door.answer(await door.request(2), approved=True)
        await stage.expect_end(second, RunStatus.COMPLETED)
        demand(stage.made == ["send"], f"the yes for `send` led to {stage.made}")
        await door.answer(denied, approved=False)
        await stage.expect_end(first, RunStatus.COMPLETED)
        demand(stage.made == ["send"], f"the no for `note` led to {stage.made[1:]}")


@check
async def a_wait_that_is_cancelled_ends(open_approver: OpenApprover) -> None:
    """The cancellation of the Run is let pass, and the same Session can ask again."""
    async with _opened(open_approver) as (stage, door):
        session = await stage.session()
        await session.send("call note")
        await door.request(1)
        await anyio.wait_all_tasks_blocked()
        demand(not stage.made, "the call was made before anybody had answered")
        await session.cancel()
        await stage.expect_end(session, RunStatus.CANCELED)
        stage.expect_no_complaints()
        await session.send("call note")
        await door.answer(await door.request(2), approved=True)
        await stage.expect_end(session, RunStatus.COMPLETED)
        demand(stage.made == ["note"], "after a cancelled wait, a yes did not let a call run")


@check
async def the_next_process_asks_again(open_approver: OpenApprover) -> None:
    """What waited when a process died is asked once more, of a service that knows nothing."""
    disk = MemoryStore()
    async with _opened(open_approver, disk) as (dead, unanswered):
        session = await dead.session()
        await session.send("call note")
        await unanswered.request()
        await anyio.wait_all_tasks_blocked()
        demand(not dead.made, "the call was made before anybody had answered")
        dead.store.died.set()
        async with _opened(open_approver, disk) as (stage, door):
            again = await stage.channel.resume_session(session.id)
            await door.answer(await door.request(), approved=True)
            await stage.expect_end(again, RunStatus.COMPLETED)
            demand(stage.made == ["note"], "a yes in the next process did not let the call run")


APPROVAL_SERVICE_SUITE: Suite[OpenApprover] = Suite(
    "approval.service/v1",
    (
        a_call_waits_for_its_answer_and_obeys_it,
        an_answer_goes_to_its_own_request,
        a_wait_that_is_cancelled_ends,
        the_next_process_asks_again,
    ),
)
