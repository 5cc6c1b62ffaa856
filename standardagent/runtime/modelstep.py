"""The model half of a step: ask, check the stream, make the answer durable."""

import logging
from functools import partial
from time import monotonic

import anyio
import anyio.lowlevel

from agentslot._failures import is_failure
from agentslot.interaction import ChunksReset, ReasoningChunk, TextChunk
from agentslot.model import (
    Completed,
    Completion,
    Failed,
    FinishReason,
    ModelStream,
    ReasoningDelta,
    Reset,
    TextDelta,
)
from agentslot.model.streamcheck import StreamCheck, StreamViolation, require_end
from agentslot.session import (
    AppendLimitExceeded,
    AppendMessage,
    AppendToolCall,
    Change,
    ClassifiedError,
    Continuation,
    ErrorKind,
    Message,
    MessageId,
    Role,
    RunLimit,
    RunLimitExceeded,
    TerminationSource,
    ToolCall,
    ToolResult,
)
from agentslot.standardagent.loop import LoopState
from agentslot.standardagent.runtime.attempts import Recorder, budget_exceeded
from agentslot.standardagent.runtime.completion import complete
from agentslot.standardagent.runtime.hooks.preflight import reserve_preflights
from agentslot.standardagent.runtime.pace import Pace
from agentslot.standardagent.runtime.prepare import FixedParts, context_change, prepare_request
from agentslot.standardagent.runtime.results import with_next_step
from agentslot.standardagent.runtime.run import Run
from agentslot.standardagent.runtime.toolbatch import ToolBatch

log = logging.getLogger(__name__)

_CLOSE_SECONDS = 5
"""How long a stream may take to let go of its connection before it is abandoned."""


class ModelStep:
    """Asks the model once for one Run.

    After `TOOLS_READY` the calls of the answer stand in `batch`.

    Args:
        run: the active Run.
        parts: what all requests have in common.
        begins: whether the loop has said that it will execute the calls at once.
    """

    def __init__(self, run: Run, parts: FixedParts, *, begins: bool = False) -> None:
        self._run = run
        self._parts = parts
        self._begins = begins
        self._recorder: Recorder | None = None
        self.batch: ToolBatch | None = None

    async def request(self) -> LoopState:
        """One logical call, from the budget check to the durable answer."""
        run = self._run
        if run.budget().exhausted:
            await budget_exceeded(run)
            return LoopState.BUDGET_EXCEEDED
        message_id = run.owner.components.ids.message()
        completion: Completion | None = None
        try:
            with run.interruptible():
                completion = await self._ask(message_id)
        except ClassifiedError as error:
            run.terminate(TerminationSource.MODEL, error.kind, error.code, error.message)
        except BaseException as error:
            if not is_failure(error):
                raise
            log.exception("the model executor failed in Run %s", run.id)
            run.terminate(
                TerminationSource.MODEL,
                ErrorKind.INTERNAL,
                "model_execution_failed",
                "the model executor failed unexpectedly; its log entry has the cause",
            )
        if completion is not None:
            return await self._record(completion, message_id)
        if self._recorder is not None:
            await self._recorder.settle()
        return self._run.cut_short()

    async def _ask(self, message_id: MessageId) -> Completion:
        run = self._run
        try:
            prepared = await prepare_request(run, self._parts)
        except ClassifiedError as error:
            run.terminate(TerminationSource.CONTEXT, error.kind, error.code, error.message)
            raise
        opening = partial(context_change, run, prepared, self._parts)
        recorder = self._recorder = Recorder(run, prepared.request, opening)
        stream = run.owner.components.executor.execute(recorder.request, recorder)
        try:
            completion = await self._receive(stream, message_id)
        except BaseException:
            with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
                await stream.aclose()
            raise
        await stream.aclose()
        return completion

    async def _receive(self, stream: ModelStream, message_id: MessageId) -> Completion:
        run, check = self._run, StreamCheck()
        hub, pace = run.owner.hub, Pace()
        while True:
            try:
                event = await stream.receive()
            except anyio.EndOfStream:
                raise StreamViolation("the stream ended without a terminal event") from None
            check.see(event)
            if isinstance(event, (TextDelta, ReasoningDelta)):
                if hub.listening:
                    chunk = TextChunk if isinstance(event, TextDelta) else ReasoningChunk
                    number = hub.next_sequence()
                    hub.publish(chunk(run.origin, number, message_id, event.attempt_id, event.text))
                    if monotonic() >= pace.due:
                        await pace.give_way()
                continue
            match event:
                case Reset(attempt_id):
                    number = hub.next_sequence()
                    hub.publish(ChunksReset(run.origin, number, message_id, attempt_id))
                    if run.owner.watch is not None:
                        run.owner.watch.attempt_reset(run.id, run.step_id, attempt_id, run.config)
                case Completed(_, completion):
                    await require_end(stream)
                    return completion
                case Failed(error):
                    raise error

    async def _record(self, completion: Completion, message_id: MessageId) -> LoopState:
        run, owner, recorder = self._run, self._run.owner, self._recorder
        calls = self._identified(completion, message_id)
        async with owner.lock:
            changes = [] if recorder is None else recorder.take_end(completion.finish_reason)
            if calls and not self._fit(calls, changes):
                await owner.commit_in_shield("run-limit", changes)
                return LoopState.BUDGET_EXCEEDED
            message = self._message(completion, message_id)
            changes.append(AppendMessage(message))
            changes.extend(AppendToolCall(call) for call in calls)
            if calls and completion.finish is FinishReason.LENGTH:
                return await self._refuse_truncated(calls, changes)
            if calls:
                changes.extend(self._make_ready(calls))
            await owner.commit_in_shield("model-complete", changes)
        return LoopState.TOOLS_READY if calls else await complete(run, message)

    def _make_ready(self, calls: tuple[ToolCall, ...]) -> list[Change]:
        """Make a batch of the calls; what has to be recorded for it together with them."""
        run = self._run
        self.batch = ToolBatch(run, calls)
        asked = reserve_preflights(run, calls)
        if asked or run.owner.components.guards or run.cancel_requested:
            return asked
        return self.batch.begin() if self._begins else []

    async def _refuse_truncated(
        self, calls: tuple[ToolCall, ...], changes: list[Change]
    ) -> LoopState:
        """Record calls that may be cut off together with results that say so; the lock is held.

        In one commit, so that no crash leaves them prepared: a restart would run them.
        """
        run, owner = self._run, self._run.owner
        step_id = owner.components.ids.step()
        changes.extend(with_next_step(run, [_cut_off(call) for call in calls], step_id))
        await owner.commit_in_shield("model-complete", changes)
        run.enter_step(step_id)
        # A model that is always cut off, and never waits, must not keep the event loop.
        await anyio.lowlevel.cancel_shielded_checkpoint()
        return LoopState.CONTINUE_READY

    def _identified(self, completion: Completion, message_id: MessageId) -> tuple[ToolCall, ...]:
        run, ids = self._run, self._run.owner.components.ids
        return tuple(
            ToolCall(
                ids.tool_call(),
                requested.correlation_id,
                message_id,
                run.id,
                run.step_id,
                requested.name,
                requested.arguments,
            )
            for requested in completion.calls
        )

    def _message(self, completion: Completion, message_id: MessageId) -> Message:
        run = self._run
        continuation = None
        if completion.continuation is not None:
            continuation = Continuation(
                run.config.provider, run.config.model, completion.continuation
            )
        return Message(
            message_id,
            Role.ASSISTANT,
            completion.parts,
            run.owner.components.now(),
            run.id,
            run.step_id,
            continuation=continuation,
        )

    def _fit(self, calls: tuple[ToolCall, ...], changes: list[Change]) -> bool:
        """Whether the whole batch fits the limit. If not, `changes` say so and keep none of it."""
        run, owner = self._run, self._run.owner
        limit = owner.components.config.max_tool_calls_per_run
        active = owner.state.active_run
        used = active.tool_calls if active is not None else 0
        if not limit or used + len(calls) <= limit:
            return True
        fact = RunLimitExceeded(
            run.id, run.step_id, RunLimit.TOOL_CALLS, used, limit, requested=len(calls)
        )
        changes.append(AppendLimitExceeded(fact))
        run.terminate(
            TerminationSource.BUDGET,
            ErrorKind.UNAVAILABLE,
            "tool_call_limit",
            f"the model asked for {len(calls)} tool calls, {limit - used} of {limit} were left",
        )
        return False


def _cut_off(call: ToolCall) -> ToolResult:
    return ToolResult.failed(
        call.id,
        "output_truncated",
        f"{call.name} was not run: your answer hit the output limit and the arguments may be cut."
        " Call it again with complete arguments, in smaller pieces if they are long.",
    )
