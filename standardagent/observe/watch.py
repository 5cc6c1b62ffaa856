"""The watch over one Session: turns what becomes durable, and what tools do, into records.

Most records are read off the facts of a commit, so nothing is reported that did not become true.
"""

import hashlib
from collections.abc import Callable, Container
from datetime import datetime, timedelta
from typing import Literal

from agentslot.model import CacheLoss
from agentslot.session import (
    Actor,
    AttemptId,
    AttemptStatus,
    Fact,
    ModelAttempt,
    ModelConfig,
    ModelConfigChanged,
    RunFact,
    RunId,
    RunStatus,
    SessionState,
    StepId,
    ToolCall,
    ToolCallId,
    ToolResult,
)
from agentslot.standardagent.observe import factrecords
from agentslot.standardagent.observe.hub import ObservationHub
from agentslot.standardagent.observe.records import (
    AttemptTrace,
    CacheLossTrace,
    RuntimeTrace,
    ToolDecision,
    ToolTrace,
    ToolVerdict,
)

UNKNOWN_TOOL = "(unknown)"
"""Stands for a tool name that the model made up, which is text of the model like any other."""


class SessionWatch:
    """Publishes the records of one Session, which is open from now on; never waits or raises."""

    def __init__(
        self,
        hub: ObservationHub,
        state: SessionState,
        tools: Container[str],
        now: Callable[[], datetime],
    ) -> None:
        self._hub = hub
        self._session_id = state.id
        self._agent = state.agent
        self._workspace = state.workspace
        self._tools = tools
        self._now = now
        self._begun: dict[str, datetime] = {}
        self._ended: dict[ToolCallId, datetime] = {}
        self._runtime("runtime.opened")

    def closed(self) -> None:
        """The Session is not open here any more."""
        self._runtime("runtime.closed")

    def _runtime(self, kind: Literal["runtime.opened", "runtime.closed"]) -> None:
        self._hub.trace(
            RuntimeTrace(kind=kind, at=self._now(), session_id=self._session_id, agent=self._agent)
        )

    def committed(self, previous: SessionState, state: SessionState) -> None:
        """A commit has made `state` out of `previous`."""
        for fact in state.history[previous.history.last_sequence :]:
            match fact.payload:
                case RunFact() as run:
                    self._run(fact, run)
                case ModelAttempt() as attempt:
                    active = state.active_run or previous.active_run
                    config = state.model_config if active is None else active.config
                    self._attempt(fact, attempt, config)
                case ToolResult() as result:
                    entry = previous.journal.get(result.call_id)
                    call = entry.call if entry else state.history.call(result.call_id)
                    if call is not None:
                        self._tool_completed(fact, call, result)
                case ModelConfigChanged() as change:
                    self._hub.audit(factrecords.config_audit(self._agent, fact, change))
                case _:
                    pass
        if state.extensions is not previous.extensions:
            self._extensions(previous, state)

    def _extensions(self, previous: SessionState, state: SessionState) -> None:
        for entry in state.extensions.changed_since(previous.extensions):
            self._hub.audit(factrecords.extension_transition(state, entry))
        for metric in factrecords.journal_metrics(self._agent, state.extensions):
            self._hub.metric(metric)

    def _run(self, fact: Fact, run: RunFact) -> None:
        duration_ms = None
        if run.status is RunStatus.STARTED:
            self._begun[run.run_id] = fact.at
        else:
            duration_ms = self._duration_ms(run.run_id, fact.at)
            self._hub.metric(factrecords.count("agent.run.total", outcome=run.status.value))
        self._hub.trace(factrecords.run_trace(self._agent, fact, run, duration_ms))

    def _attempt(self, fact: Fact, attempt: ModelAttempt, config: ModelConfig) -> None:
        duration_ms = None
        if attempt.status is AttemptStatus.STARTED:
            self._begun[attempt.attempt_id] = fact.at
        else:
            duration_ms = self._duration_ms(attempt.attempt_id, fact.at)
            self._hub.metric(
                factrecords.count(
                    "agent.model.attempt.total", provider=attempt.provider, model=attempt.model
                )
            )
            usage = factrecords.usage_record(self._agent, self._workspace, fact, attempt)
            if usage is not None:
                self._hub.usage(usage)
        self._hub.trace(factrecords.attempt_trace(self._agent, fact, attempt, config, duration_ms))

    def attempt_reset(
        self, run_id: RunId, step_id: StepId, attempt_id: AttemptId, config: ModelConfig
    ) -> None:
        """What an attempt has shown is void."""
        self._hub.trace(
            AttemptTrace(
                kind="model.attempt.reset",
                at=self._now(),
                session_id=self._session_id,
                agent=self._agent,
                run_id=run_id,
                step_id=step_id,
                attempt_id=attempt_id,
                provider=config.provider,
                model=config.model,
                status=AttemptStatus.STARTED,
                reasoning=config.reasoning,
                temperature=config.temperature,
                max_tokens=config.max_tokens,
            )
        )

    def cache_lost(
        self,
        run_id: RunId,
        step_id: StepId,
        attempt_id: AttemptId,
        config: ModelConfig,
        loss: CacheLoss,
    ) -> None:
        """A provider had to read again what its prompt cache had held."""
        self._hub.metric(factrecords.cache_loss_metric(config, loss))
        self._hub.trace(
            CacheLossTrace(
                at=self._now(),
                session_id=self._session_id,
                agent=self._agent,
                run_id=run_id,
                step_id=step_id,
                attempt_id=attempt_id,
                provider=config.provider,
                model=config.model,
                reason=loss.reason,
                changed=tuple(section.name for section in loss.changed),
                tokens=loss.tokens,
                cost_usd=loss.cost_usd,
            )
        )

    def tool_started(self, call: ToolCall) -> None:
        """A tool begins to work on the call."""
        at = self._begun[call.id] = self._now()
        self._tool("tool.started", at, call)

    def tool_ended(self, call_id: ToolCallId) -> None:
        """The tool has returned; the record follows when its result is durable."""
        self._ended[call_id] = self._now()

    def _tool_completed(self, fact: Fact, call: ToolCall, result: ToolResult) -> None:
        at = self._ended.pop(call.id, fact.at)
        self._hub.metric(
            factrecords.count(
                "agent.tool.call.total", tool=self._name(call), outcome=result.status.value
            )
        )
        self._tool("tool.completed", at, call, result, self._duration_ms(call.id, at))

    def _tool(
        self,
        kind: Literal["tool.started", "tool.completed"],
        at: datetime,
        call: ToolCall,
        result: ToolResult | None = None,
        duration_ms: float | None = None,
    ) -> None:
        error = None if result is None else result.error
        self._hub.trace(
            ToolTrace(
                kind=kind,
                at=at,
                session_id=self._session_id,
                agent=self._agent,
                run_id=call.run_id,
                step_id=call.step_id,
                tool_call_id=call.id,
                tool=self._name(call),
                status=None if result is None else result.status,
                error_code="" if error is None else factrecords.safe_code(error.code),
                duration_ms=duration_ms,
            )
        )

    def decided(self, call: ToolCall, verdict: ToolVerdict, actor: Actor | None = None) -> None:
        """Policy, or `actor` who was asked, has decided on a call."""
        arguments = call.arguments.encode("utf-8", "surrogatepass")
        self._hub.audit(
            ToolDecision(
                at=self._now(),
                session_id=self._session_id,
                agent=self._agent,
                run_id=call.run_id,
                step_id=call.step_id,
                tool_call_id=call.id,
                tool=self._name(call),
                verdict=verdict,
                arguments_digest="sha256:" + hashlib.sha256(arguments).hexdigest(),
                actor=actor,
            )
        )

    def _name(self, call: ToolCall) -> str:
        return call.name if call.name in self._tools else UNKNOWN_TOOL

    def _duration_ms(self, subject: str, ended: datetime) -> float | None:
        """Since the subject began, as the records tell it; never negative, though clocks step."""
        begun = self._begun.pop(subject, None)
        return None if begun is None else max((ended - begun) / timedelta(milliseconds=1), 0.0)
