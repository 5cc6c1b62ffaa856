"""The tool half of a step: prepare each call, decide once, execute, make the results durable.

Preparation is sequential and happens for the whole batch before anything runs. A call that may not
run already has its result then. From the moment a group of calls is marked pending they are never
run again, whatever happens. Every call gets exactly one result, in call order, also when the Run is
cancelled in the middle.
"""

import itertools
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from agentslot._json import JsonValue
from agentslot.interaction import ToolFinished, ToolProgress, ToolStarted
from agentslot.session import MarkToolPending, ToolCall, ToolCallId, ToolResult, ToolStatus
from agentslot.standardagent.loop import LoopState
from agentslot.standardagent.runtime.authorize import refusal
from agentslot.standardagent.runtime.components import ExposedTool
from agentslot.standardagent.runtime.results import commit_results
from agentslot.standardagent.runtime.run import Run
from agentslot.tool import ToolFailedError, ToolInvocation
from agentslot.tool.arguments import parse_arguments

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A call that may run."""

    call: ToolCall
    tool: ExposedTool
    arguments: dict[str, JsonValue]


class ToolBatch:
    """The calls of one assistant message, from the first check to the last result."""

    def __init__(self, run: Run, calls: Sequence[ToolCall]) -> None:
        self._run = run
        self._calls = calls
        self._results: dict[ToolCallId, ToolResult] = {}
        self._pending: set[ToolCallId] = set()
        self._returned: set[ToolCallId] = set()

    async def execute(self) -> LoopState:
        """Run what may run; afterwards every call has its durable result."""
        run = self._run
        for group in _groups(await self._prepare()):
            if run.cancel_requested:
                break
            await self._execute_group(group)
        await self._record_results()
        if run.cancel_requested:
            return LoopState.CANCELED
        stop = all(result.terminate for result in self._results.values())
        return LoopState.COMPLETED if stop else LoopState.CONTINUE_READY

    async def _prepare(self) -> list[_Ready]:
        ready: list[_Ready] = []
        with self._run.interruptible():
            for call in self._calls:
                checked = await self._check(call)
                if isinstance(checked, ToolResult):
                    self._results[call.id] = checked
                else:
                    ready.append(checked)
        return ready

    async def _check(self, call: ToolCall) -> "_Ready | ToolResult":
        tools = self._run.owner.components.tools
        tool = tools.get(call.name)
        if tool is None:
            known = ", ".join(tools) or "none"
            return ToolResult.failed(
                call.id,
                "tool_not_found",
                f"there is no tool {call.name!r}; the tools are: {known}",
            )
        try:
            arguments = parse_arguments(call.arguments)
        except ToolFailedError as error:
            return ToolResult.failed(
                call.id, error.code, f"{call.name} was not run. {error.message}"
            )
        refused = await refusal(self._run, call, tool.effect)
        return refused or _Ready(call, tool, arguments)

    async def _execute_group(self, group: Sequence[_Ready]) -> None:
        """Mark the group pending, then run its calls, each in a task of its own.

        A task of its own also keeps a tool that cancels itself from cancelling the Run.
        """
        owner = self._run.owner
        async with owner.lock:
            changes = [MarkToolPending(ready.call.id) for ready in group]
            await owner.commit_in_shield("tool-executing", changes)
        self._pending.update(ready.call.id for ready in group)
        async with anyio.create_task_group() as tasks:
            self._run.interruptible(tasks.cancel_scope)
            for ready in group:
                tasks.start_soon(self._invoke, ready, name=f"tool {ready.call.name}")

    async def _record_results(self) -> None:
        for call in self._calls:
            self._results.setdefault(call.id, self._cut_short(call))
        await commit_results(self._run, [self._results[call.id] for call in self._calls])
        for call in self._calls:
            if call.id not in self._returned:  # refused, or cut short: nobody has heard of it
                self._publish_finished(call, self._results[call.id])

    async def _invoke(self, ready: _Ready) -> None:
        """Run one call and keep its result; only the cancellation of the Run passes through."""
        call, watch = ready.call, self._run.owner.watch
        self._publish_started(call)
        if watch is not None:
            watch.tool_started(call)
        try:
            result = await ready.tool.tool.invoke(self._invocation(ready))
        except anyio.get_cancelled_exc_class():
            if self._run.cancel_requested:
                raise
            result = ToolResult.failed(call.id, "canceled", f"{call.name} cancelled itself")
        except Exception:
            log.exception("tool %s failed on call %s", call.name, call.id)
            result = ToolResult.failed(
                call.id, "tool_internal", f"{call.name} failed unexpectedly; its log has the cause"
            )
        else:
            result = self._valid(call, result)
        self._results[call.id] = result
        self._returned.add(call.id)
        self._publish_finished(call, result)
        if watch is not None:
            watch.tool_ended(call.id)

    def _invocation(self, ready: _Ready) -> ToolInvocation:
        state, config = self._run.owner.state, self._run.owner.components.config
        call = ready.call
        return ToolInvocation(
            call,
            state.id,
            state.agent,
            state.workspace,
            config.max_inline_tool_result_bytes,
            lambda text: self._publish_progress(call, text),
            ready.arguments,
        )

    def _valid(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """The result, or a failure in place of one that breaks the contract or the size limit."""
        limit = self._run.owner.components.config.max_inline_tool_result_bytes
        if (
            not isinstance(result, ToolResult)  # pyright: ignore[reportUnnecessaryIsInstance]
            or result.call_id != call.id
            or result.status is ToolStatus.OUTCOME_UNKNOWN
        ):
            log.error("tool %s broke its contract on call %s: %r", call.name, call.id, result)
            return ToolResult.failed(
                call.id, "invalid_tool_result", f"{call.name} gave no valid result"
            )
        if result.output is not None and len(result.output) * 4 > limit:
            size = len(result.output.encode())
            if size > limit:
                return ToolResult.failed(
                    call.id,
                    "result_too_large",
                    f"{call.name} ran, but its result has {size} bytes and {limit} are allowed:"
                    " ask for less at a time",
                )
        return result

    def _cut_short(self, call: ToolCall) -> ToolResult:
        """The result of a call that the end of the Run overtook."""
        if call.id in self._pending:
            return ToolResult.failed(
                call.id,
                "canceled",
                f"{call.name} was interrupted while it ran; a part of its work may be done",
            )
        return ToolResult.failed(
            call.id, "canceled", f"{call.name} was not run: the run was interrupted before"
        )

    def _publish_started(self, call: ToolCall) -> None:
        hub = self._run.owner.hub
        if hub.listening:
            hub.publish(ToolStarted(self._run.origin, hub.next_sequence(), call))

    def _publish_progress(self, call: ToolCall, text: str) -> None:
        hub = self._run.owner.hub
        if hub.listening:
            hub.publish(ToolProgress(self._run.origin, hub.next_sequence(), call, text))

    def _publish_finished(self, call: ToolCall, result: ToolResult) -> None:
        hub = self._run.owner.hub
        if hub.listening:
            hub.publish(ToolFinished(self._run.origin, hub.next_sequence(), call, result))


def _groups(ready: Sequence[_Ready]) -> list[list[_Ready]]:
    """Neighbours that may run together; a call that is not parallel-safe is a group of its own."""
    groups: list[list[_Ready]] = []
    for parallel, run in itertools.groupby(ready, key=lambda r: r.tool.parallel_safe):
        calls = list(run)
        groups.extend([calls] if parallel else [[call] for call in calls])
    return groups
