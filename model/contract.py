"""How a model is asked: the contracts of executor, attempt recorder, token counter and catalog."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Protocol

from agentslot import Chain, Many, One
from agentslot.model.errors import ModelError
from agentslot.model.price import Price
from agentslot.model.transcript import Transcript
from agentslot.model.wires.caching import CacheLoss
from agentslot.session import (
    AttemptId,
    AttemptStatus,
    Modality,
    ModelConfig,
    OutputFormat,
    OutputStrategy,
    Part,
    Reasoning,
    RunId,
    SessionId,
    StepId,
    TokenUsage,
    ToolDefinition,
    safe_line,
)
from agentslot.session.record import record

_MAX_REASON_BYTES = 64


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything that one logical call shows the model.

    Attributes:
        config: the Run's frozen selection.
        system_prompt: the fixed prompt, or None.
        inputs: the conversation, protocol-legal: calls follow their message, results their calls.
        tools: what the model may call, in a stable order.
        late_tools: how many of them, at the end, have come in the course of the conversation. What
            stands before them is the same in every request, so a cache mark belongs there.
        output: the form that the final answer must have, if one is asked for.
    """

    session_id: SessionId
    run_id: RunId
    step_id: StepId
    config: ModelConfig
    system_prompt: str | None
    inputs: Transcript
    tools: tuple[ToolDefinition, ...] = ()
    late_tools: int = 0
    output: OutputFormat | None = None


class FinishReason(StrEnum):
    """Why the model stopped: for reports and the truncation rule, never to decide on going on."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_USE = "tool_use"
    REFUSAL = "refusal"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A tool call as the model wrote it: the provider's token, a name, the raw argument text."""

    correlation_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Completion:
    """A finished answer: at least one part or one call.

    Attributes:
        parts: text and reasoning, in the order in which they appeared.
        calls: tool calls in order. If `finish` is LENGTH none of them may run.
        continuation: one JSON value that the same model wants back with this message, or None.
        raw_finish: the provider's own word for why it stopped.
    """

    parts: tuple[Part, ...]
    calls: tuple[RequestedCall, ...] = ()
    finish: FinishReason = FinishReason.STOP
    raw_finish: str = ""
    continuation: str | None = None

    @property
    def finish_reason(self) -> str:
        """Why the model stopped: the value of `finish`, for OTHER the provider's own word."""
        is_known = self.finish is not FinishReason.OTHER or not self.raw_finish
        return self.finish.value if is_known else safe_line(self.raw_finish, _MAX_REASON_BYTES)


@record
class TextDelta:
    """More visible text. A preview: the Completion that follows is the truth."""

    attempt_id: AttemptId
    text: str


@record
class ReasoningDelta:
    """More visible thinking; a preview like TextDelta."""

    attempt_id: AttemptId
    text: str


@dataclass(frozen=True, slots=True)
class Reset:
    """Everything shown of this attempt is void: another attempt follows, or a failure."""

    attempt_id: AttemptId


@dataclass(frozen=True, slots=True)
class Completed:
    """Terminal: the whole answer."""

    attempt_id: AttemptId
    completion: Completion


@dataclass(frozen=True, slots=True)
class Failed:
    """Terminal: the logical call failed after every retry that its policy allows.

    Nothing visible may be outstanding: a Reset precedes it where text had been shown.
    """

    error: ModelError


ModelEvent = TextDelta | ReasoningDelta | Reset | Completed | Failed


class ModelStream(Protocol):
    """Events of one logical call: deltas and resets, then exactly one terminal event."""

    async def receive(self) -> ModelEvent:
        """Wait for the next event.

        Raises:
            anyio.EndOfStream: after the terminal event.
        """
        ...

    async def aclose(self) -> None:
        """Release the connection. Idempotent; must not hang."""
        ...


@dataclass(frozen=True, slots=True)
class AttemptOutcome:
    """How a physical request ended.

    Attributes:
        status: SUCCEEDED, FAILED or CANCELED.
        usage: what it consumed, reported or estimated; also of a failed attempt, if known.
        cost_usd: what the usage costs in US dollars, at the prices of the model that answered;
            None if they are not known.
        error_code: required unless it succeeded.
        error_message: the provider's own message as one safe line, if it gave one.
        partial_text: visible text that had arrived, unless it succeeded; for people only.
        cache_loss: what the provider had to read again, if its cache had held it before.
        provider_request_id: what the provider called the exchange, for its support.
        response_id: what it called the answer, if that is complete.
    """

    status: AttemptStatus
    usage: TokenUsage | None = None
    served_model: str = ""
    provider_request_id: str = ""
    error_code: str = ""
    error_message: str = ""
    cost_usd: Decimal | None = None
    cache_loss: CacheLoss | None = None
    partial_text: str = ""
    response_id: str = ""


@record
class TokenBudget:
    """Tokens of the Run: `used` of `limit`; a limit of 0 is none."""

    limit: int
    used: int

    @property
    def exhausted(self) -> bool:
        """Whether no further attempt may start."""
        return 0 < self.limit <= self.used


class AttemptRecorder(Protocol):
    """The executor's one durable capability: each request is recorded before it is sent."""

    async def started(self) -> AttemptId:
        """Record the start of an attempt for the Run's frozen model; bytes may be sent only after.

        Raises:
            ClassifiedError: the attempt may not start (limit or budget reached, an observer
                refused, it could not be recorded). Do not retry: let it pass.
        """
        ...

    async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        """Record the end of an attempt, before a retry and before the terminal event."""
        ...

    def budget(self) -> TokenBudget:
        """The Run's tokens now; check it before a retry."""
        ...


@dataclass(frozen=True, slots=True)
class ExecutionCapabilities:
    """What a model can do, as the executor knows it.

    Attributes:
        reasoning: efforts that may be asked for; at least `default`.
        context_window_tokens: input plus output.
        max_output_tokens: at most the window; 0 if unknown.
        structured_output: how the executor can meet the `output` of a request, the best way first;
            empty if it does not read it. The model is then told in words by whoever asks.
        native_output_with_tools: whether the native way goes together with tools. If not, the next
            one is taken where there are tools.
    """

    context_window_tokens: int
    max_output_tokens: int = 0
    input_modalities: frozenset[Modality] = frozenset({Modality.TEXT})
    output_modalities: frozenset[Modality] = frozenset({Modality.TEXT})
    tool_calling: bool = True
    reasoning: tuple[Reasoning, ...] = (Reasoning.DEFAULT,)
    structured_output: tuple[OutputStrategy, ...] = ()
    native_output_with_tools: bool = True


class ModelExecutor(Protocol):
    """Runs logical calls. Owns attempts, retries and the wire; knows nothing of Sessions."""

    def inspect(self, config: ModelConfig, /) -> ExecutionCapabilities:
        """What the selected model can do.

        Raises:
            ClassifiedError: `invalid_input/model_not_supported`, naming the nearest models.
        """
        ...

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        """Begin one logical call. Nothing is sent before the stream is first read.

        Raises:
            ClassifiedError: `invalid_input/model_not_supported`; or
                `invalid_input/output_strategy_not_supported` if the request forces a way to the
                wanted form that the model does not have. The stream may raise both instead.
        """
        ...


@record
class TokenCount:
    """How many tokens a request has, or at most has: as text `12 tokens` or `at most 12 tokens`.

    Attributes:
        tokens: 0 or more.
        exact: whether the provider will count just as many; if not, it counts that many or fewer.
    """

    tokens: int
    exact: bool = False

    def __str__(self) -> str:
        return f"{self.tokens} tokens" if self.exact else f"at most {self.tokens} tokens"


class TokenCounter(Protocol):
    """Counts the whole request as the provider will see it: exact, or a defensible upper bound."""

    async def count_tokens(self, request: ModelRequest, /) -> TokenCount:
        """Tokens of the request; an error stops the request before it is sent."""
        ...


@dataclass(frozen=True, slots=True)
class ModelDescriptor:
    """One model that people can choose.

    Attributes:
        price: None if it is not known.
        vendor: key in the embedded catalog of whoever made the model, if the descriptor is from
            there: what answers in the model's place is priced by it.
    """

    provider: str
    model: str
    capabilities: ExecutionCapabilities
    title: str = ""
    price: Price | None = None
    vendor: str = ""


class ModelCatalog(Protocol):
    """Models to choose from. For people; it authorizes nothing."""

    def models(self) -> Sequence[ModelDescriptor]:
        """All of them; each descriptor's provider equals the catalog's key in its slot."""
        ...


class AttemptObserver(Protocol):
    """Sees every physical request before it is sent and after it ended; may refuse its start."""

    async def attempt_started(self, attempt_id: AttemptId, request: ModelRequest) -> None:
        """Raise to refuse the attempt; nothing is sent then."""
        ...

    async def attempt_finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        """Told before a retry and before the logical result."""
        ...


MODEL_EXECUTOR = One[ModelExecutor]("model.executor")
TOKEN_COUNTER = One[TokenCounter]("model.token-counter")
MODEL_CATALOG = Many[ModelCatalog]("model.catalog")
ATTEMPT_OBSERVER = Chain[AttemptObserver]("model.attempt.observer")
