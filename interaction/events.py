"""What a subscriber of a Session hears.

Only `RevisionAdvanced` speaks of something durable, and it carries no content: read the view. All
others are temporary; they show progress, may be dropped when a subscriber is slow, and are never
needed to know the truth.
"""

from dataclasses import dataclass
from typing import Literal

from agentslot.session import (
    AttemptId,
    MessageId,
    RunId,
    RunStatus,
    SessionId,
    StepId,
    ToolCall,
    ToolResult,
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an event comes from. `parent_run_id` is the Run that delegated to this one, if any."""

    session_id: SessionId
    run_id: RunId | None = None
    step_id: StepId | None = None
    parent_run_id: RunId | None = None


@dataclass(frozen=True, slots=True)
class TextChunk:
    """More text of the assistant message that will be durable under `message_id`."""

    origin: Origin
    sequence: int
    message_id: MessageId
    attempt_id: AttemptId
    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ReasoningChunk:
    """More thinking of that message."""

    origin: Origin
    sequence: int
    message_id: MessageId
    attempt_id: AttemptId
    text: str
    kind: Literal["reasoning"] = "reasoning"


@dataclass(frozen=True, slots=True)
class ChunksReset:
    """Forget the chunks of that attempt: it failed, another may follow."""

    origin: Origin
    sequence: int
    message_id: MessageId
    attempt_id: AttemptId
    kind: Literal["reset"] = "reset"


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool is about to run. Every started call finishes once, and so do calls that never ran."""

    origin: Origin
    sequence: int
    call: ToolCall
    kind: Literal["tool_started"] = "tool_started"


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """A running tool says how far it has come."""

    origin: Origin
    sequence: int
    call: ToolCall
    text: str
    kind: Literal["tool_progress"] = "tool_progress"


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A call has its result."""

    origin: Origin
    sequence: int
    call: ToolCall
    result: ToolResult
    kind: Literal["tool_finished"] = "tool_finished"


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """A call waits for a person; see the view for all that wait, answer with `answer_approval`.

    Attributes:
        digest: binds the answer to exactly this call, these arguments and these reasons.
    """

    origin: Origin
    sequence: int
    call: ToolCall
    reason: str
    digest: str
    kind: Literal["approval_requested"] = "approval_requested"


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The Run has ended; its end is durable."""

    origin: Origin
    sequence: int
    status: RunStatus
    message: str = ""
    kind: Literal["run_finished"] = "run_finished"


@dataclass(frozen=True, slots=True)
class RevisionAdvanced:
    """A commit was applied: the Session is at `revision` now."""

    origin: Origin
    sequence: int
    revision: int
    kind: Literal["revision"] = "revision"


Event = (
    TextChunk
    | ReasoningChunk
    | ChunksReset
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | ApprovalRequested
    | RunFinished
    | RevisionAdvanced
)
