"""What a subscriber of a Session hears.

Only `RevisionAdvanced` speaks of something durable, and it carries no content: read the view. All
others are temporary; they show progress, may be dropped when a subscriber is slow, and are never
needed to know the truth.
"""

from typing import Literal

from agentslot.model import CacheLoss
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
from agentslot.session.record import record


@record
class Origin:
    """Where an event comes from. `parent_run_id` is the Run that delegated to this one, if any."""

    session_id: SessionId
    run_id: RunId | None = None
    step_id: StepId | None = None
    parent_run_id: RunId | None = None


@record
class LiveEvent:
    """What all events have.

    Attributes:
        sequence: number of the event in its Session, growing; gaps are events nobody listened to.
    """

    origin: Origin
    sequence: int


@record
class TextChunk(LiveEvent):
    """More text of the assistant message that will be durable under `message_id`."""

    message_id: MessageId
    attempt_id: AttemptId
    text: str
    kind: Literal["text"] = "text"


@record
class ReasoningChunk(LiveEvent):
    """More thinking of that message."""

    message_id: MessageId
    attempt_id: AttemptId
    text: str
    kind: Literal["reasoning"] = "reasoning"


@record
class ChunksReset(LiveEvent):
    """Forget the chunks of that attempt: it failed, another may follow."""

    message_id: MessageId
    attempt_id: AttemptId
    kind: Literal["reset"] = "reset"


@record
class PromptCacheLost(LiveEvent):
    """For that attempt the provider had to read again what its prompt cache had held."""

    attempt_id: AttemptId
    loss: CacheLoss
    kind: Literal["prompt_cache_lost"] = "prompt_cache_lost"


@record
class ToolStarted(LiveEvent):
    """A tool is about to run. Every started call finishes once, and so do calls that never ran."""

    call: ToolCall
    kind: Literal["tool_started"] = "tool_started"


@record
class ToolProgress(LiveEvent):
    """A running tool says how far it has come."""

    call: ToolCall
    text: str
    kind: Literal["tool_progress"] = "tool_progress"


@record
class ToolFinished(LiveEvent):
    """A call has its result."""

    call: ToolCall
    result: ToolResult
    kind: Literal["tool_finished"] = "tool_finished"


@record
class ApprovalRequested(LiveEvent):
    """A call waits for a person; see the view for all that wait, answer with `answer_approval`.

    Attributes:
        digest: binds the answer to exactly this call, these arguments and these reasons.
    """

    call: ToolCall
    reason: str
    digest: str
    kind: Literal["approval_requested"] = "approval_requested"


@record
class RunFinished(LiveEvent):
    """The Run has ended; its end is durable."""

    status: RunStatus
    message: str = ""
    kind: Literal["run_finished"] = "run_finished"


@record
class RevisionAdvanced(LiveEvent):
    """A commit was applied: the Session is at `revision` now."""

    revision: int
    kind: Literal["revision"] = "revision"


Event = (
    TextChunk
    | ReasoningChunk
    | ChunksReset
    | PromptCacheLost
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | ApprovalRequested
    | RunFinished
    | RevisionAdvanced
)
