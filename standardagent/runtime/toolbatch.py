"""The tool half of a step: prepare each call, decide once, execute, make the results durable.

Preparation is sequential and happens for the whole batch before anything runs. A call that may not
run already has its result then. From the moment a group of calls is marked pending they are never
run again, whatever happens. Every call gets exactly one result, in call order, also when the Run is
cancelled in the middle.
"""

import logging
from collections.abc import Collection, Sequence
from contextlib import nullcontext, suppress
from contextvars import copy_context
from functools import partial

import anyio
import anyio.lowlevel

from agentslot._failures import is_failure
from agentslot._json import JsonValue
from agentslot.interaction import ToolFinished, ToolProgress, ToolStarted
from agentslot.session import Change, MarkToolPending, ToolCall, ToolCallId, ToolResult
from agentslot.session.record import record
from agentslot.standardagent.loop import LoopState
from agentslot.standardagent.runtime.authorize import refusal
from agentslot.standardagent.runtime.batchend import are_whole, complete_behind
from agentslot.standardagent.runtime.components import ExposedTool
from agentslot.standardagent.runtime.hooks.interrupting import HookInterruption
from agentslot.standardagent.runtime.hooks.preflight import NO_ADVICE, advise
from agentslot.standardagent.runtime.hooks.results import ResultHooks
from agentslot.standardagent.runtime.results import commit_last_results, commit_results
from agentslot.standardagent.runtime.run import Run
from agentslot.standardagent.runtime.toolexecution import ToolExecution
from agentslot.standardagent.runtime.tooltasks import ToolTasks
from agentslot.standardagent.runtime.within import within
from agentslot.tool import ToolFailedError, ToolInvocation
from agentslot.tool.arguments import parse_arguments
from agentslot.tool.toolsearch import TOOL_SEARCH

log = logging.getLogger(__name__)


@record
class _Ready:
    """A call that may run."""

    call: ToolCall
    tool: ExposedTool
    arguments: dict[str, JsonValue]


class ToolBatch:
    """The calls of one assistant message, from the first check to the last result.

    Args:
        run: the active Run.
        calls: all calls of the message that have no result.
        resumed: whether an earlier process recorded them.
    """

    def __init__(self, run: Run, calls: Sequence[ToolCall], *, resumed: bool = False) -> None:
        self._run = run
        self._calls = calls
        self._resumed = resumed
        self._runnable: list[_Ready] | None = None
        self._begun: list[_Ready] = []
        self._results: dict[ToolCallId, ToolResult] = {}
        self._pending: set[ToolCallId] = set()
        self._returned: set[ToolCallId] = set()
        self._definite: set[ToolCallId] = set()

    def begin(self) -> list[Change]:
        """Mark the first group as pending already in the commit that records the calls.

        For a batch that is executed right behind it: that saves a commit. Where a preflight or a
        guard is to be asked this would be too soon, for they may keep a call from running.
        """
        self._runnable = self._sort_out()
        self._begun = next(iter(_groups(self._runnable)), list[_Ready]())
        return [MarkToolPending(ready.call.id) for ready in self._begun]

    async def execute(self) -> LoopState:
        """Run what may run; afterwards every call has its durable result.

        Raises:
            HookInterruption: a hook could not be asked; the Run is interrupted.
        """
        run = self._run
        try:
            await self._execute_groups()
        except HookInterruption:
            await commit_last_results(run, self._all_results(aborted=True))
            self._publish_unheard()
            raise
        if run.left:
            return LoopState.CANCELED  # nothing has run, nothing is recorded
        results = self._all_results()
        if run.cancel_requested:
            await commit_last_results(run, results)
            self._publish_unheard()
            return LoopState.CANCELED
        if all(result.terminate for result in results) and await self._may_end():
            await commit_last_results(run, results)
            self._publish_unheard()
            return await complete_behind(run, self._calls)
        looked_at = [call for call in self._calls if call.id in self._definite]
        hooks = ResultHooks(run, looked_at, self._results)
        await commit_results(run, results, reserve=hooks.reserve)
        self._publish_unheard()
        await hooks.evaluate()
        return LoopState.CONTINUE_READY

    async def _may_end(self) -> bool:
        """Whether nobody waits to join, and no call of an earlier process is without a vote."""
        if self._run.steers():
            return False
        return not self._resumed or await are_whole(self._run, self._calls)

    async def _execute_groups(self) -> None:
        for group in _groups(await self._prepare()):
            if self._run.cancel_requested:
                return
            await self._execute_group(group)

    async def _prepare(self) -> list[_Ready]:
        run = self._run
        runnable = self._sort_out() if self._runnable is None else self._runnable
        could_run = {each.call.id for each in runnable}
        advice = await advise(run, self._calls, could_run, resumed=self._resumed)
        ready: list[_Ready] = []
        # Where nobody is asked nothing waits, and a scope costs as much as the rest.
        asked = run.owner.components.guards or advice
        with run.interruptible() if asked else nullcontext():
            for each in runnable:
                advised = advice.get(each.call.id, NO_ADVICE)
                refused = await refusal(run, each.call, each.tool.effect, advised)
                if refused is None:
                    ready.append(each)
                else:
                    self._results[each.call.id] = refused
        return ready

    def _sort_out(self) -> list[_Ready]:
        """The calls that could run; every other has its result then."""
        checked = [self._check(call) for call in self._calls]
        self._results.update((r.call_id, r) for r in checked if isinstance(r, ToolResult))
        return [each for each in checked if isinstance(each, _Ready)]

    def _check(self, call: ToolCall) -> "_Ready | ToolResult":
        owner = self._run.owner
        tool = owner.components.tools.get(call.name)
        if tool is None or (tool.deferred and call.name not in self._found()):
            return self._not_there(call, deferred=tool is not None)
        try:
            arguments = parse_arguments(call.arguments)
            if tool.check_arguments is not None:
                tool.check_arguments(arguments, call.arguments)
        except ToolFailedError as error:
            return ToolResult.failed(
                call.id, error.code, f"{call.name} was not run. {error.message}"
            )
        except BaseException as error:
            if not is_failure(error):
                raise
            log.exception("tool %s could not check the arguments of call %s", call.name, call.id)
            return ToolResult.failed(
                call.id,
                "tool_internal",
                f"{call.name} was not run: its arguments could not be checked; the log has the"
                " cause",
            )
        return _Ready(call, tool, arguments)

    def _found(self) -> Collection[str]:
        owner = self._run.owner
        return owner.found_tools.of(owner.state.history)

    def _not_there(self, call: ToolCall, *, deferred: bool) -> ToolResult:
        if deferred:
            return ToolResult.failed(
                call.id,
                "tool_not_loaded",
                f"{call.name} is not loaded, so it was not run: call {TOOL_SEARCH} with query"
                f" {call.name!r}, then call it with the arguments that its schema asks for",
            )
        components = self._run.owner.components
        shown = [name for name, tool in components.tools.items() if not tool.deferred]
        known = ", ".join([*shown, *self._found()]) or "none"
        more = f"; {TOOL_SEARCH} finds more" if components.deferred else ""
        return ToolResult.failed(
            call.id,
            "tool_not_found",
            f"there is no tool {call.name!r}; the tools are: {known}{more}",
        )

    async def _execute_group(self, group: Sequence[_Ready]) -> None:
        """Mark the group pending, then run its calls: side by side, where they wait."""
        owner = self._run.owner
        if group != self._begun:
            async with owner.lock:
                changes = [MarkToolPending(ready.call.id) for ready in group]
                await owner.commit_in_shield("tool-executing", changes)
        self._pending.update(ready.call.id for ready in group)
        if not owner.components.tool_middleware and not any(ready.tool.waits for ready in group):
            await self._invoke_here(group)
            return
        tasks = ToolTasks(owner.guests)
        for ready in group:
            tasks.start(partial(self._invoke, ready), f"tool {ready.call.name}")
        self._run.interrupts(tasks)
        await tasks.wait()

    async def _invoke_here(self, group: Sequence[_Ready]) -> None:
        """Run calls that do not wait: they are over before a task of their own could begin."""
        for ready in group:
            await within(copy_context(), self._invoke(ready))
        with suppress(anyio.get_cancelled_exc_class()):  # one that a tool has left behind
            await anyio.lowlevel.checkpoint()

    def _all_results(self, *, aborted: bool = False) -> list[ToolResult]:
        """One result for each call, in call order."""
        for call in self._calls:
            if call.id not in self._results:
                self._results[call.id] = self._cut_short(call, aborted=aborted)
        return [self._results[call.id] for call in self._calls]

    def _publish_unheard(self) -> None:
        """Tell of the calls that were refused or cut short: nobody has heard of their end."""
        for call in self._calls:
            if call.id not in self._returned:
                self._publish_finished(call, self._results[call.id])

    async def _invoke(self, ready: _Ready) -> None:
        """Run one call and keep its result; only the cancellation of the Run passes through."""
        call, watch = ready.call, self._run.owner.watch
        self._publish_started(call)
        if watch is not None:
            watch.tool_started(call)
        middleware = self._run.owner.components.tool_middleware
        execution = ToolExecution(ready.tool, self._invocation(ready), middleware)
        try:
            result = await execution.run()
        except anyio.get_cancelled_exc_class():
            if self._run.cancel_requested:
                raise
            result = ToolResult.failed(call.id, "canceled", f"{call.name} cancelled itself")
        else:
            if result is not execution.stand_in:
                self._definite.add(call.id)
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
            self._run.owner.components.artifacts,
            self._run.owner.boundary,
        )

    def _cut_short(self, call: ToolCall, *, aborted: bool) -> ToolResult:
        """The result of a call that the end of the Run overtook."""
        if call.id in self._pending:
            return ToolResult.failed(
                call.id,
                "canceled",
                f"{call.name} was interrupted while it ran; a part of its work may be done",
            )
        if aborted:
            text = f"{call.name} was not run: a check of the whole batch failed"
            return ToolResult.failed(call.id, "tool_batch_aborted", text)
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
    for each in ready:
        if groups and each.tool.parallel_safe and groups[-1][0].tool.parallel_safe:
            groups[-1].append(each)
        else:
            groups.append([each])
    return groups
