"""Facts: what a Session's append-only History is made of.

A payload says what happened; the envelope (`Fact`) says where in the History, when and by whom. The
aggregate gives out envelopes, nobody else.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from agentslot.session.errors import ErrorKind
from agentslot.session.identity import (
    Actor,
    AttemptId,
    FactId,
    RunId,
    SessionId,
    StepId,
)
from agentslot.session.message import Message
from agentslot.session.modelconfig import ModelConfig, TokenUsage
from agentslot.session.record import record
from agentslot.session.toolcall import ToolCall, ToolResult


class RunStatus(StrEnum):
    """A Run starts once and ends once, in one of four ways."""

    STARTED = "started"
    COMPLETED = "completed"
    CANCELED = "canceled"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class TerminationSource(StrEnum):
    """Which part of the system ended a Run that did not complete."""

    MODEL = "model"
    CONTEXT = "context"
    LOOP = "loop"
    TOOL = "tool"
    POLICY = "policy"
    BUDGET = "budget"
    SESSION = "session"
    RUNTIME = "runtime"
    EXTENSION = "extension"


@dataclass(frozen=True, slots=True)
class RunTermination:
    """Why a Run did not complete; `message` is one safe line of at most 1024 bytes."""

    source: TerminationSource
    kind: ErrorKind
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class RunFact:
    """Start or end of a Run. The end repeats the start's model configuration.

    Attributes:
        config_revision: revision of the Session at which `config` was read.
        termination: present exactly on canceled, failed and interrupted.
    """

    run_id: RunId
    status: RunStatus
    config: ModelConfig
    config_revision: int
    termination: RunTermination | None = None
    kind: Literal["run"] = "run"


class AttemptStatus(StrEnum):
    """A physical request starts once and ends once; `outcome_unknown` is written by recovery."""

    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"
    OUTCOME_UNKNOWN = "outcome_unknown"


@record
class ModelAttempt:
    """Start or end of one physical request to a provider.

    Attributes:
        provider: key of the provider; like `model` equal to the Run's frozen configuration.
        served_model: the model that the provider says answered, where it differs.
        usage: what the attempt consumed; on ends only.
        error_code: required on every end but success.
        error_message: the provider's own safe line, if it gave one.
        partial_text: what it had said when it was cut off, for people only: no request shows it.
        cost_usd: what the usage cost in US dollars, exactly; None if the price was not known.
        finish_reason: why the model stopped, with an answer that became part of the Session: as
            `Completion.finish_reason` says it.
        response_id: the provider's name for its answer, with one that is complete. What it called
            the exchange is `provider_request_id`; that exists for failures, too.

    Raises:
        ValueError: the cost is negative or not a finite number.
    """

    attempt_id: AttemptId
    run_id: RunId
    step_id: StepId
    status: AttemptStatus
    provider: str
    model: str
    served_model: str = ""
    provider_request_id: str = ""
    usage: TokenUsage | None = None
    error_code: str = ""
    error_message: str = ""
    cost_usd: Decimal | None = None
    partial_text: str = ""
    finish_reason: str = ""
    response_id: str = ""
    kind: Literal["model_attempt"] = "model_attempt"

    def __post_init__(self) -> None:
        cost = self.cost_usd
        if cost is not None and not (cost.is_finite() and cost >= 0):
            msg = f"cost_usd must be a finite number of at least 0, not {cost}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class ModelConfigChanged:
    """The Session was switched to another model."""

    previous: ModelConfig
    current: ModelConfig
    kind: Literal["model_config_changed"] = "model_config_changed"


@dataclass(frozen=True, slots=True)
class ContextContribution:
    """Messages that a context source added to one step's request; once per step and source."""

    run_id: RunId
    step_id: StepId
    source_key: str
    messages: tuple[Message, ...]
    kind: Literal["context_contribution"] = "context_contribution"


@dataclass(frozen=True, slots=True)
class RunBudgetExceeded:
    """The Run used up its token budget: `used` of at most `limit` tokens."""

    run_id: RunId
    used: int
    limit: int
    kind: Literal["run_budget_exceeded"] = "run_budget_exceeded"


class RunLimit(StrEnum):
    """What a Run may do only so often."""

    MODEL_ATTEMPTS = "model_attempts"
    TOOL_CALLS = "tool_calls"


@dataclass(frozen=True, slots=True)
class RunLimitExceeded:
    """The Run asked for `requested` more where only `limit - used` were left; nothing was done."""

    run_id: RunId
    step_id: StepId
    exceeded: RunLimit
    used: int
    limit: int
    requested: int
    kind: Literal["run_limit_exceeded"] = "run_limit_exceeded"


Payload = (
    Message
    | ToolCall
    | ToolResult
    | RunFact
    | ModelAttempt
    | ModelConfigChanged
    | ContextContribution
    | RunBudgetExceeded
    | RunLimitExceeded
)


@record
class Fact:
    """One entry of History.

    Attributes:
        sequence: position in the History, contiguous from 1.
        run_id: the Run it belongs to, if any; copied from the payload or, for a result, its call.
        at: when it was committed, in UTC. Order is `sequence`, never time.
        origin_id: in a fork, the fact of the parent that this one copies.
    """

    session_id: SessionId
    sequence: int
    run_id: RunId | None
    step_id: StepId | None
    at: datetime
    actor: Actor
    payload: Payload
    origin_id: FactId | None = None

    @property
    def id(self) -> FactId:
        """Identity of the fact, unique over all Sessions."""
        return FactId(f"{self.session_id}:fact:{self.sequence}")

    @property
    def kind(self) -> str:
        """Kind of the payload, such as `message` or `tool_call`."""
        return self.payload.kind
