"""How people and programs reach an agent: the Gateway's contract and the channels before it."""

if __name__ == "interaction":
    raise ImportError(
        "import agentslot.interaction instead of interaction: the folder is a part of agentslot"
    )

from typing import TYPE_CHECKING

from agentslot._lazy import imports_when_used

if TYPE_CHECKING or not imports_when_used(__name__):
    from agentslot.interaction.channel import (
        GATEWAY_CHANNELS,
        ChannelLifespan,
        GatewayChannel,
        gateway_channel,
    )
    from agentslot.interaction.command import (
        INTERACTION_COMMANDS,
        ActionKind,
        ActionRequest,
        ActionResult,
        CancelAction,
        Choice,
        CommandActions,
        CommandDescriptor,
        CommandField,
        CommandInvocation,
        CommandResult,
        CommandScope,
        FieldType,
        InteractionCommand,
        InvalidCommand,
        InvokeCommand,
        NextAction,
        RunPendingAction,
        SendAction,
        SteerAction,
        UpdateModelConfigAction,
    )
    from agentslot.interaction.command_model import MODEL_COMMAND, ModelCommand, ModelCommandModule
    from agentslot.interaction.errors import (
        ChannelAlreadyBound,
        ChannelNotBound,
        CompatibilityError,
        EventStreamOverflow,
        InputGateError,
        LineTooLong,
        RunNotCompletedError,
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
        PendingApproval,
        QueuedCommand,
        SendMessage,
        SessionClosed,
        SessionCommand,
        SessionModel,
        SessionOpened,
        SessionView,
        StartFromSummary,
    )
    from agentslot.interaction.goals import ChangeGoal, SetGoal
    from agentslot.interaction.handle import ChannelSession, Content
    from agentslot.interaction.inprocess import InProcessChannel
    from agentslot.interaction.receipts import MessageReceipt, RunReceipt, RunResult

    # Built on the names above, so it comes last.
    from agentslot.interaction.cli import CliChannel  # isort: skip
    from agentslot.interaction.sessionevents import SessionEvents
    from agentslot.interaction.typed import AnswerInvalidError, TypedResult

__all__ = [
    "GATEWAY_ACCESS",
    "GATEWAY_CHANNELS",
    "INTERACTION_COMMANDS",
    "MODEL_COMMAND",
    "ActionKind",
    "ActionRequest",
    "ActionResult",
    "AnswerApproval",
    "AnswerInvalidError",
    "ApprovalRequested",
    "CancelAction",
    "ChangeGoal",
    "ChannelAlreadyBound",
    "ChannelLifespan",
    "ChannelNotBound",
    "ChannelSession",
    "Choice",
    "ChunksReset",
    "CliChannel",
    "CommandActions",
    "CommandDescriptor",
    "CommandField",
    "CommandInvocation",
    "CommandResult",
    "CommandScope",
    "CompatibilityError",
    "Content",
    "CreateSession",
    "Event",
    "EventStream",
    "EventStreamOverflow",
    "ExtensionDiagnosticsPage",
    "FieldType",
    "ForkSession",
    "GatewayAccess",
    "GatewayChannel",
    "HistoryPage",
    "InProcessChannel",
    "InputGateError",
    "InteractionCommand",
    "InvalidCommand",
    "InvokeCommand",
    "LineTooLong",
    "MessageReceipt",
    "ModelCommand",
    "ModelCommandModule",
    "NextAction",
    "Origin",
    "PendingApproval",
    "PromptCacheLost",
    "QueuedCommand",
    "ReasoningChunk",
    "RevisionAdvanced",
    "RunFinished",
    "RunNotCompletedError",
    "RunPendingAction",
    "RunReceipt",
    "RunResult",
    "SendAction",
    "SendMessage",
    "SessionClosed",
    "SessionCommand",
    "SessionEvents",
    "SessionModel",
    "SessionOpened",
    "SessionView",
    "SetGoal",
    "StartFromSummary",
    "SteerAction",
    "TextChunk",
    "ToolFinished",
    "ToolProgress",
    "ToolStarted",
    "TypedResult",
    "UpdateModelConfigAction",
    "gateway_channel",
]
