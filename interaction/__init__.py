"""How people and programs reach an agent: the Gateway's contract and the channels before it."""

if __name__ == "interaction":
    raise ImportError(
        "import agentslot.interaction instead of interaction: the folder is a part of agentslot"
    )

from agentslot.interaction.channel import (
    GATEWAY_CHANNELS,
    ChannelLifespan,
    GatewayChannel,
    gateway_channel,
)
from agentslot.interaction.errors import (
    ChannelAlreadyBound,
    ChannelNotBound,
    CompatibilityError,
    EventStreamOverflow,
    InputGateError,
    LineTooLong,
)
from agentslot.interaction.events import (
    ApprovalRequested,
    ChunksReset,
    Event,
    Origin,
    PromptCacheLost,
    ReasoningChunk,
    RevisionAdvanced,
    RunFinished,
    TextChunk,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from agentslot.interaction.gateway import (
    GATEWAY_ACCESS,
    AnswerApproval,
    CreateSession,
    EventStream,
    ExtensionDiagnosticsPage,
    ForkSession,
    GatewayAccess,
    HistoryPage,
    MessageReceipt,
    PendingApproval,
    QueuedCommand,
    RunReceipt,
    RunResult,
    SendMessage,
    SessionClosed,
    SessionCommand,
    SessionOpened,
    SessionView,
    StartFromSummary,
)
from agentslot.interaction.handle import ChannelSession, Content, SessionEvents
from agentslot.interaction.inprocess import InProcessChannel

# Built on the names above, so it comes last.
from agentslot.interaction.cli import CliChannel  # isort: skip
from agentslot.interaction.typed import AnswerInvalidError, TypedResult

__all__ = [
    "GATEWAY_ACCESS",
    "GATEWAY_CHANNELS",
    "AnswerApproval",
    "AnswerInvalidError",
    "ApprovalRequested",
    "ChannelAlreadyBound",
    "ChannelLifespan",
    "ChannelNotBound",
    "ChannelSession",
    "ChunksReset",
    "CliChannel",
    "CompatibilityError",
    "Content",
    "CreateSession",
    "Event",
    "EventStream",
    "EventStreamOverflow",
    "ExtensionDiagnosticsPage",
    "ForkSession",
    "GatewayAccess",
    "GatewayChannel",
    "HistoryPage",
    "InProcessChannel",
    "InputGateError",
    "LineTooLong",
    "MessageReceipt",
    "Origin",
    "PendingApproval",
    "PromptCacheLost",
    "QueuedCommand",
    "ReasoningChunk",
    "RevisionAdvanced",
    "RunFinished",
    "RunReceipt",
    "RunResult",
    "SendMessage",
    "SessionClosed",
    "SessionCommand",
    "SessionEvents",
    "SessionOpened",
    "SessionView",
    "StartFromSummary",
    "TextChunk",
    "ToolFinished",
    "ToolProgress",
    "ToolStarted",
    "TypedResult",
    "gateway_channel",
]
