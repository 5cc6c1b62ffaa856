"""Tool calls and their results, as History keeps them and every layer passes them on."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from agentslot._json import dumps
from agentslot.session.identity import MessageId, RunId, StepId, ToolCallId


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that the model asked for.

    Attributes:
        id: our identity of the call, unique in its Session.
        correlation_id: the provider's token for the call; content only, never an identity.
        arguments: the JSON text exactly as the model wrote it. It may be no valid object: the
            dispatcher says so to the model instead of running the tool.
    """

    id: ToolCallId
    correlation_id: str
    message_id: MessageId
    run_id: RunId
    step_id: StepId
    name: str
    arguments: str
    kind: Literal["tool_call"] = "tool_call"


class ToolStatus(StrEnum):
    """How a call ended.

    `outcome_unknown` stands where the Run or its process ended before the result could be kept: the
    effect may have happened, or not.
    """

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    OUTCOME_UNKNOWN = "outcome_unknown"


@dataclass(frozen=True, slots=True)
class ToolError:
    """Why a call failed, in words that the model reads. Causes stay out of it."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class ArtifactMetadata:
    """What is known of an artifact without opening it; `size` in bytes."""

    id: str
    media_type: str
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of one call.

    Attributes:
        output: one JSON value as text, or None. A JSON string is shown to the model as plain text.
        error: set exactly when the call failed; a failed call may still have output.
        artifacts: references to large or binary content in the artifact store.
        terminate: a vote to end the run behind this batch, as a final answer would; it counts only
            if every result votes so.
    """

    call_id: ToolCallId
    status: ToolStatus
    output: str | None = None
    error: ToolError | None = None
    artifacts: tuple[ArtifactMetadata, ...] = ()
    terminate: bool = False
    kind: Literal["tool_result"] = "tool_result"

    def __post_init__(self) -> None:
        if (self.status is ToolStatus.FAILED) != (self.error is not None):
            msg = f"a tool result carries an error exactly when it failed; this one {self.status}"
            raise ValueError(msg)

    @classmethod
    def succeeded(
        cls, call_id: ToolCallId, output: object = None, *artifacts: ArtifactMetadata
    ) -> "ToolResult":
        """A success whose output is any JSON-compatible value (None: no output)."""
        text = None if output is None else dumps(output)
        return cls(call_id, ToolStatus.SUCCEEDED, text, artifacts=artifacts)

    @classmethod
    def failed(
        cls, call_id: ToolCallId, code: str, message: str, output: object = None
    ) -> "ToolResult":
        """A failure that tells the model what happened and the one thing to change."""
        text = None if output is None else dumps(output)
        return cls(call_id, ToolStatus.FAILED, text, ToolError(code, message))


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """How a tool is shown to the model.

    Attributes:
        name: what the model calls; equal to the key in the `tool` slot.
        description: what it does and when to use it, in words for the model.
        input_schema: a closed JSON Schema (Draft 2020-12) of an object. Treat it as immutable.
        strict: whether the provider shall hold the model to the schema while it writes arguments. A
            wish: a provider that cannot do so, or not for this schema, is shown the tool all the
            same, and the arguments are checked when they have come in any case.
    """

    name: str
    description: str
    input_schema: Mapping[str, object]
    strict: bool = False
