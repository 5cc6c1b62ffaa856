"""Changes: the only ways in which a Session moves from one revision to the next.

A commit is one or more changes that apply together or not at all. Where two steps always belong
together there is one change for both (a recorded call is prepared; a result ends its call; a
started Run is the active one), so that half of a pair cannot be written down.
"""

from typing import Literal

from agentslot.session.extensions import InvocationStep
from agentslot.session.facts import (
    ContextContribution,
    ModelAttempt,
    RunBudgetExceeded,
    RunFact,
    RunLimitExceeded,
)
from agentslot.session.identity import MessageId, RunId, ToolCallId
from agentslot.session.message import Message, Part
from agentslot.session.modelconfig import ModelConfig
from agentslot.session.record import record
from agentslot.session.state import ContextView, Delivery, QueueItem
from agentslot.session.toolcall import ToolCall, ToolResult


@record
class AppendMessage:
    """Append a message. A user message inside a Run names its run and step."""

    message: Message
    kind: Literal["append_message"] = "append_message"


@record
class AppendToolCall:
    """Append a call of an earlier assistant message of the active Run and mark it prepared."""

    call: ToolCall
    kind: Literal["append_tool_call"] = "append_tool_call"


@record
class MarkToolPending:
    """Cross the execution boundary of a prepared call: from here on it is never run again."""

    call_id: ToolCallId
    kind: Literal["mark_tool_pending"] = "mark_tool_pending"


@record
class AppendToolResult:
    """Append the one result of a prepared or pending call and close its journal entry."""

    result: ToolResult
    kind: Literal["append_tool_result"] = "append_tool_result"


@record
class AppendRun:
    """Start a Run (the Session must be idle) or end the active one (nothing may be unfinished)."""

    fact: RunFact
    kind: Literal["append_run"] = "append_run"


@record
class AppendAttempt:
    """Start or end a physical request of the active Run."""

    attempt: ModelAttempt
    kind: Literal["append_attempt"] = "append_attempt"


@record
class AppendContextContribution:
    """Record what a context source added to the active Run's step."""

    contribution: ContextContribution
    kind: Literal["append_context_contribution"] = "append_context_contribution"


@record
class AppendBudgetExceeded:
    """Record, once per Run, that its token budget is used up; `used` equals the durable total."""

    fact: RunBudgetExceeded
    kind: Literal["append_budget_exceeded"] = "append_budget_exceeded"


@record
class AppendLimitExceeded:
    """Record that a Run asked for more than its limit allows; counts must match History."""

    fact: RunLimitExceeded
    kind: Literal["append_limit_exceeded"] = "append_limit_exceeded"


@record
class Enqueue:
    """Put an unclaimed user message at the end of the queue."""

    item: QueueItem
    kind: Literal["enqueue"] = "enqueue"


@record
class ConsumeQueued:
    """Take a queued message out for the active Run; its AppendMessage stands in the same commit."""

    message_id: MessageId
    run_id: RunId
    kind: Literal["consume_queued"] = "consume_queued"


@record
class EditQueued:
    """Replace the content of a queued message; id and delivery stay."""

    message_id: MessageId
    parts: tuple[Part, ...]
    kind: Literal["edit_queued"] = "edit_queued"


@record
class DeleteQueued:
    """Drop a queued message."""

    message_id: MessageId
    kind: Literal["delete_queued"] = "delete_queued"


@record
class ReclassifyQueued:
    """Change when a queued message is delivered."""

    message_id: MessageId
    delivery: Delivery
    kind: Literal["reclassify_queued"] = "reclassify_queued"


@record
class SetContext:
    """Record what the next request shows the model.

    Attributes:
        texts: contents that the view names by digest and the Session does not hold yet.
        retain_previous: keep the previous view; without it all retained ones are dropped.
    """

    context: ContextView
    texts: tuple[tuple[str, str], ...] = ()
    retain_previous: bool = False
    kind: Literal["set_context"] = "set_context"


@record
class SetModelConfig:
    """Switch an idle Session to another model; appends the fact that says so."""

    config: ModelConfig
    kind: Literal["set_model_config"] = "set_model_config"


@record
class UpdateExtensionJournal:
    """Move one invocation of a hook one step on; a prepared one is appended as the next entry."""

    sequence: int
    step: InvocationStep
    kind: Literal["update_extension_journal"] = "update_extension_journal"


Change = (
    AppendMessage
    | AppendToolCall
    | MarkToolPending
    | AppendToolResult
    | AppendRun
    | AppendAttempt
    | AppendContextContribution
    | AppendBudgetExceeded
    | AppendLimitExceeded
    | Enqueue
    | ConsumeQueued
    | EditQueued
    | DeleteQueued
    | ReclassifyQueued
    | SetContext
    | SetModelConfig
    | UpdateExtensionJournal
)
