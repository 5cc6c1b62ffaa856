"""Executing one recorded call: through the middleware to the tool, which runs at most once."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

import anyio
from pydantic_core import from_json

from agentslot._failures import is_failure
from agentslot.session import (
    ArtifactMetadata,
    ToolDefinition,
    ToolError,
    ToolResult,
    ToolStatus,
)
from agentslot.session.text import is_unicode
from agentslot.standardagent.runtime.components import ExposedTool
from agentslot.tool import Effect, ToolInvocation, ToolMiddleware, ToolMiddlewareError

log = logging.getLogger(__name__)


class ToolExecution:
    """One call on its way to a valid result; whatever a tool or a middleware does, it gets one.

    Attributes:
        stand_in: the last result that was put in place of one that broke a contract; the tool has
            not given it.
    """

    def __init__(
        self, tool: ExposedTool, invocation: ToolInvocation, middleware: Sequence[ToolMiddleware]
    ) -> None:
        self._tool = tool
        self._invocation = invocation
        self._middleware = middleware
        # What a middleware decodes is its own: the tool gets what policy has seen.
        self._shown = replace(invocation, decoded=None) if middleware else invocation
        self._begun = False
        self.stand_in: ToolResult | None = None

    def run(self) -> Awaitable[ToolResult]:
        """Execute the call. Only a cancellation passes through."""
        return self._from(0) if self._middleware else self._run_tool()

    async def _from(self, place: int) -> ToolResult:
        """The result of what the chain holds from `place` on, and the tool."""
        if place == len(self._middleware):
            return await self._run_tool()
        rest = _Rest(self._tool, partial(self._from, place + 1))
        middleware, call = self._middleware[place], self._invocation.call
        try:
            result = await middleware.invoke(self._shown, rest)
        except BaseException as error:
            if not is_failure(error):
                raise
            log.exception("tool middleware %r failed on call %s", middleware, call.id)
            return self._broken_middleware()
        finally:
            await rest.end()
        if rest.was_left or not self._is_valid(result):
            log.error(
                "tool middleware %r broke its contract on %s: %r", middleware, call.id, result
            )
            return self._broken_middleware()
        return self._within_limit(result)

    async def _run_tool(self) -> ToolResult:
        call = self._invocation.call
        self._begun = True
        try:
            result = await self._tool.tool.invoke(self._invocation)
        except BaseException as error:
            if not is_failure(error):
                raise
            log.exception("tool %s failed on call %s", call.name, call.id)
            return self._instead(
                "tool_internal", f"{call.name} failed unexpectedly; its log has the cause"
            )
        if not self._is_valid(result):
            log.error("tool %s broke its contract on call %s: %r", call.name, call.id, result)
            return self._instead("invalid_tool_result", f"{call.name} gave no valid result")
        return self._within_limit(result)

    def _is_valid(self, result: ToolResult) -> bool:
        return (
            isinstance(result, ToolResult)  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped code
            and result.call_id == self._invocation.call.id
            and result.status is not ToolStatus.OUTCOME_UNKNOWN
            and _is_well_formed(result)
        )

    def _within_limit(self, result: ToolResult) -> ToolResult:
        """The result, or a failure in place of one that is too long."""
        limit = self._invocation.max_inline_output_bytes
        said = result.output or ""
        if result.error is not None:
            said += result.error.message
        if len(said) * 4 <= limit:
            return result
        size = len(said.encode())
        if size <= limit:
            return result
        return self._instead(
            "result_too_large",
            f"{self._invocation.call.name} ran, but its result has {size} bytes and {limit} are"
            " allowed: ask for less at a time",
        )

    def _broken_middleware(self) -> ToolResult:
        name = self._invocation.call.name
        what = f"{name} was not run: what stands before it failed"
        if self._begun:
            what = f"{name} has run, but what stands behind it failed and its result is lost"
        return self._instead("tool_middleware_failed", f"{what}; the log has the cause")

    def _instead(self, code: str, message: str) -> ToolResult:
        self.stand_in = ToolResult.failed(self._invocation.call.id, code, message)
        return self.stand_in


def _is_well_formed(result: ToolResult) -> bool:
    """Whether every member is what it should be: untyped tools give all kinds of things."""
    return (
        _is_a(ToolStatus, result.status)
        and (result.output is None or _is_json(result.output))
        and (result.error is None or _is_error(result.error))
        and _is_a(tuple, result.artifacts)
        and all(_is_a(ArtifactMetadata, each) for each in result.artifacts)
        and _is_a(bool, result.terminate)
    )


def _is_a(kind: type, value: object) -> bool:
    return isinstance(value, kind)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and is_unicode(value)


def _is_json(value: object) -> bool:
    if not isinstance(value, str) or not is_unicode(value):
        return False
    try:
        from_json(value, allow_inf_nan=False)
    except ValueError:
        return False
    return True


def _is_error(value: object) -> bool:
    """Whether it is an error that tells the model something."""
    return (
        isinstance(value, ToolError)
        and _is_text(value.code)
        and _is_text(value.message)
        and bool(value.code and value.message)
    )


class _Rest:
    """What is left of an execution behind one middleware; see ToolProceed."""

    def __init__(self, tool: ExposedTool, run: Callable[[], Awaitable[ToolResult]]) -> None:
        self._tool = tool
        self._run = run
        self._scope = anyio.CancelScope()
        self._running: anyio.Event | None = None
        self._spent = False
        self.was_left = False

    @property
    def definition(self) -> ToolDefinition:
        return self._tool.definition

    @property
    def effect(self) -> Effect:
        return self._tool.effect

    async def __call__(self) -> ToolResult:
        if self._spent:
            raise ToolMiddlewareError(
                self.definition.name, "a middleware went on twice or too late"
            )
        self._spent = True
        running = self._running = anyio.Event()
        try:
            with self._scope:
                return await self._run()
        finally:
            self._running = None
            running.set()
        raise ToolMiddlewareError(self.definition.name, "a middleware returned while it ran")

    async def end(self) -> None:
        """The middleware has returned: what it has left running is cut short, nothing begins."""
        self._spent = True
        if self._running is not None:
            self.was_left = True
            self._scope.cancel()
            with anyio.CancelScope(shield=True):
                await self._running.wait()
