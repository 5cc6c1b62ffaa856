"""How a model is asked: contracts, wires, executor, catalog."""

if __name__ == "model":
    raise ImportError("import agentslot.model instead of model: the folder is a part of agentslot")

from agentslot.model.attempt import Timeouts
from agentslot.model.contract import (
    ATTEMPT_OBSERVER,
    MODEL_CATALOG,
    MODEL_EXECUTOR,
    TOKEN_COUNTER,
    AttemptObserver,
    AttemptOutcome,
    AttemptRecorder,
    Completed,
    Completion,
    ExecutionCapabilities,
    Failed,
    FinishReason,
    ModelCatalog,
    ModelDescriptor,
    ModelEvent,
    ModelExecutor,
    ModelRequest,
    ModelStream,
    Price,
    ReasoningDelta,
    RequestedCall,
    Reset,
    TextDelta,
    TokenBudget,
    TokenCounter,
)
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.openai_compatible import OpenAICompatibleModule
from agentslot.model.retry import RetryPolicy
from agentslot.model.transcript import Input, Ledger, Transcript
from agentslot.model.wires.openai_completions import CompatibilityProfile
from agentslot.session import Modality, ModelConfig, Reasoning, TokenUsage, ToolDefinition

__all__ = [
    "ATTEMPT_OBSERVER",
    "MODEL_CATALOG",
    "MODEL_EXECUTOR",
    "TOKEN_COUNTER",
    "AttemptObserver",
    "AttemptOutcome",
    "AttemptRecorder",
    "CompatibilityProfile",
    "Completed",
    "Completion",
    "ExecutionCapabilities",
    "Failed",
    "FinishReason",
    "Input",
    "Ledger",
    "Modality",
    "ModelCatalog",
    "ModelConfig",
    "ModelDescriptor",
    "ModelError",
    "ModelErrorCode",
    "ModelEvent",
    "ModelExecutor",
    "ModelRequest",
    "ModelStream",
    "OpenAICompatibleModule",
    "Price",
    "Reasoning",
    "ReasoningDelta",
    "RequestedCall",
    "Reset",
    "RetryPolicy",
    "TextDelta",
    "Timeouts",
    "TokenBudget",
    "TokenCounter",
    "TokenUsage",
    "ToolDefinition",
    "Transcript",
]
