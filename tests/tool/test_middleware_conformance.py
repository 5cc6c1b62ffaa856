"""The referee of tool middleware: ours passes, and it finds what is wrong with others."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from agentslot import Application
from agentslot.session import (
    AgentId,
    LocalWorkspaces,
    LocalWorkspacesModule,
    ToolCallId,
    ToolResult,
    WorkspaceId,
    WorkspaceScope,
)
from agentslot.tool import TOOLS, FilesModule, ToolInvocation, ToolMiddleware, ToolProceed
from agentslot.tool.conformance import ConformanceFailure, Trial, check_middleware, check_tool
from agentslot.tool.middleware import ResultCache, TimeLimit

Body = Callable[[ToolInvocation, ToolProceed], Awaitable[ToolResult]]


class Doing:
    """A middleware that is one function."""

    def __init__(self, body: Body) -> None:
        self._body = body

    async def invoke(self, invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        return await self._body(invocation, proceed)


@pytest.mark.parametrize(
    "middleware",
    [TimeLimit(30), ResultCache(), ResultCache(also=["trial"])],
    ids=["limit", "cache", "all"],
)
async def test_our_middleware_keeps_the_contract(middleware: ToolMiddleware) -> None:
    await check_middleware(middleware)


async def test_one_that_answers_itself_may_do_so() -> None:
    async def instead(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
        return ToolResult.succeeded(invocation.call.id, "no")

    await check_middleware(Doing(instead))


async def _nothing(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
    await proceed()
    return None  # type: ignore[return-value]  # this is what is wrong


async def _another(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
    return replace(await proceed(), call_id=ToolCallId("trial-1"))


async def _twice(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
    result = await proceed()
    return result if result.error is None else await proceed()


async def _raising(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
    result = await proceed()
    assert result.error is None
    return result


async def _swallowing(invocation: ToolInvocation, proceed: ToolProceed) -> ToolResult:
    try:
        return await proceed()
    except anyio.get_cancelled_exc_class():
        return ToolResult.failed(invocation.call.id, "late", "I give up")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (_nothing, "a_success_comes_back: it returned a NoneType"),
        (_another, "calls_side_by_side_keep_apart: its result is for trial-1"),
        (_twice, "a_failure_comes_back: it ran the tool 2 times"),
        (_raising, "a_failure_comes_back: the middleware failed with AssertionError"),
        (_swallowing, "a_cancellation_passes_through: it returned a result"),
    ],
)
async def test_what_is_wrong_is_said(body: Body, said: str) -> None:
    with pytest.raises(ConformanceFailure, match=said):
        await check_middleware(Doing(body))


async def test_a_tool_of_a_workspace_can_be_judged(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text\n" * 500, encoding="utf-8")
    scope = WorkspaceScope(AgentId("trial-agent"), WorkspaceId("trial-workspace"))
    folders: dict[tuple[str, str], Path] = {(scope.agent, scope.workspace): tmp_path}
    boundary = await LocalWorkspaces(folders).resolve(scope)
    modules = [FilesModule(), LocalWorkspacesModule(folders)]
    tools = Application("workspace", modules).build()[TOOLS]
    await check_tool(tools["file_read"], Trial({"path": "a.txt"}, boundary=boundary))
    await check_tool(tools["file_read"], Trial({"path": "a.txt"}, succeeds=False))
