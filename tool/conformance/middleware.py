"""What every middleware around tools does, whatever it is for."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import anyio
import anyio.lowlevel

from agentslot._conformance import ConformanceFailure, expect, run_check
from agentslot.session import ToolDefinition, ToolResult, ToolStatus
from agentslot.tool.conformance.calls import Trial
from agentslot.tool.contract import Effect, ToolInvocation
from agentslot.tool.middleware import ToolMiddleware

SECONDS = 60.0
"""Longest time that a middleware may take for a tool that answers at once."""

_CALLS_AT_ONCE = 5
_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {},
    "additionalProperties": False,
}

MiddlewareCheck: TypeAlias = Callable[[ToolMiddleware], Awaitable[None]]
"""Raises a ConformanceFailure if the middleware does not do what the contract says."""


class _Stage:
    """A tool behind the middleware, and what became of it; see ToolProceed."""

    def __init__(self, number: int = 1, *, fails: bool = False, waits: bool = False) -> None:
        self.definition = ToolDefinition("trial", "A tool for trial.", _SCHEMA)
        self.effect = Effect.WRITE
        self.parallel_safe = True
        self.invocation = Trial().of(self, number=number)
        self.entered = anyio.Event()
        self.runs = self.running = 0
        self._fails = fails
        self._waits = waits

    async def __call__(self) -> ToolResult:
        self.runs += 1
        self.running += 1
        try:
            return await self.invoke(self.invocation)
        finally:
            self.running -= 1

    async def invoke(self, invocation: ToolInvocation) -> ToolResult:
        self.entered.set()
        if self._waits:
            await anyio.sleep_forever()
        await anyio.lowlevel.checkpoint()
        call_id = invocation.call.id
        if self._fails:
            return ToolResult.failed(call_id, "trial_failed", "it was told to fail")
        return ToolResult.succeeded(call_id, "done")


async def _through(check: str, middleware: ToolMiddleware, stage: _Stage) -> None:
    """Let the middleware do its work, and look at everything that holds each time."""
    with anyio.move_on_after(SECONDS) as limit:
        _judge(check, await middleware.invoke(stage.invocation, stage), stage)
    expect(check, not limit.cancelled_caught, f"no result after {SECONDS:g} seconds")


def _judge(check: str, result: object, stage: _Stage) -> None:
    expect(check, isinstance(result, ToolResult), f"it returned a {type(result).__name__}")
    assert isinstance(result, ToolResult)
    own = stage.invocation.call.id
    expect(check, result.call_id == own, f"its result is for {result.call_id}, not {own}")
    unknown = result.status is ToolStatus.OUTCOME_UNKNOWN
    expect(check, not unknown, "it says outcome_unknown, which only recovery may")
    expect(check, stage.runs <= 1, f"it ran the tool {stage.runs} times")
    expect(check, not stage.running, "it returned while the tool was running")


async def a_success_comes_back(middleware: ToolMiddleware) -> None:
    """A tool that succeeds leads to a result of its call, and has run at most once."""
    await _through("a_success_comes_back", middleware, _Stage())


async def a_failure_comes_back(middleware: ToolMiddleware) -> None:
    """So does one that fails."""
    await _through("a_failure_comes_back", middleware, _Stage(fails=True))


async def calls_side_by_side_keep_apart(middleware: ToolMiddleware) -> None:
    """Of calls that run at once each gets its own result."""
    check = "calls_side_by_side_keep_apart"
    failures: list[ConformanceFailure] = []

    async def one(stage: _Stage) -> None:
        try:
            await _through(check, middleware, stage)
        except ConformanceFailure as failure:
            failures.append(failure)

    async with anyio.create_task_group() as tasks:
        for number in range(1, _CALLS_AT_ONCE + 1):
            tasks.start_soon(one, _Stage(number))
    if failures:
        raise failures[0]


async def a_cancellation_passes_through(middleware: ToolMiddleware) -> None:
    """A call that is cancelled while its tool runs ends, and the tool with it."""
    check = "a_cancellation_passes_through"
    stage = _Stage(waits=True)
    cancelled = anyio.CancelScope()
    swallowed = False

    async def run() -> None:
        nonlocal swallowed
        with cancelled:
            await middleware.invoke(stage.invocation, stage)
            swallowed = cancelled.cancel_called
        stage.entered.set()

    with anyio.move_on_after(SECONDS) as limit:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await stage.entered.wait()
            cancelled.cancel()
    expect(check, not limit.cancelled_caught, f"it did not end within {SECONDS:g} seconds")
    expect(check, not stage.running, "it ended and left the tool running")
    expect(check, not swallowed, "it returned a result in place of the cancellation")


MIDDLEWARE_CONTRACT = "tool.middleware/v1"
MIDDLEWARE_CHECKS: tuple[MiddlewareCheck, ...] = (
    a_success_comes_back,
    a_failure_comes_back,
    calls_side_by_side_keep_apart,
    a_cancellation_passes_through,
)


async def check_middleware(middleware: ToolMiddleware) -> None:
    """Run all checks. They are made with calls of a tool named `trial`.

    Raises:
        ConformanceFailure: the first check that fails, and what was wrong.
    """
    for check in MIDDLEWARE_CHECKS:
        await run_check("the middleware", check, middleware)
