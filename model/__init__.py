"""How a model is asked: contracts, wires, executor, catalog."""

if __name__ == "model":
    raise ImportError("import agentslot.model instead of model: the folder is a part of agentslot")

from typing import TYPE_CHECKING

from agentslot._lazy import imports_when_used

if TYPE_CHECKING or not imports_when_used(__name__):
    from agentslot.model.anthropic import AnthropicModule
    from agentslot.model.attempt import Timeouts
    from agentslot.model.cachedcontents import ExplicitCaching
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
        ReasoningDelta,
        RequestedCall,
        Reset,
        TextDelta,
        TokenBudget,
        TokenCount,
        TokenCounter,
    )
    from agentslot.model.errors import ModelError, ModelErrorCode
    from agentslot.model.executor import ProviderExecutor, ProvidersModule
    from agentslot.model.extension import (
        MODEL_MIDDLEWARE,
        MODEL_PROVIDERS,
        MODEL_SELECTOR,
        ModelMiddleware,
        ModelProvider,
        ModelSelector,
        Proceed,
    )
    from agentslot.model.google import GoogleModule
    from agentslot.model.ollama import OllamaModule
    from agentslot.model.openai_compatible import OpenAICompatibleModule
    from agentslot.model.openai_responses import OpenAIResponsesModule
    from agentslot.model.price import Price, Rates, RatesAbove
    from agentslot.model.retry import RetryPolicy
    from agentslot.model.tokens import OpenAITokens
    from agentslot.model.transcript import Input, Ledger, Transcript
    from agentslot.model.wires.anthropic_messages import AnthropicSettings, KeyHeader, ThinkingStyle
    from agentslot.model.wires.caching import (
        CacheLoss,
        CacheLossReason,
        CacheRetention,
        CacheStats,
        PromptSection,
        Stability,
    )
    from agentslot.model.wires.google_generative_ai import (
        GeminiFamily,
        GoogleSettings,
        VertexProject,
    )
    from agentslot.model.wires.ollama_chat import OllamaSettings
    from agentslot.model.wires.openai_completions import CompatibilityProfile
    from agentslot.model.wires.openai_responses import ResponsesSettings
    from agentslot.session import (
        Modality,
        ModelConfig,
        OutputFormat,
        OutputStrategy,
        Reasoning,
        TokenUsage,
        ToolDefinition,
    )

__all__ = [
    "ATTEMPT_OBSERVER",
    "MODEL_CATALOG",
    "MODEL_EXECUTOR",
    "MODEL_MIDDLEWARE",
    "MODEL_PROVIDERS",
    "MODEL_SELECTOR",
    "TOKEN_COUNTER",
    "AnthropicModule",
    "AnthropicSettings",
    "AttemptObserver",
    "AttemptOutcome",
    "AttemptRecorder",
    "CacheLoss",
    "CacheLossReason",
    "CacheRetention",
    "CacheStats",
    "CompatibilityProfile",
    "Completed",
    "Completion",
    "ExecutionCapabilities",
    "ExplicitCaching",
    "Failed",
    "FinishReason",
    "GeminiFamily",
    "GoogleModule",
    "GoogleSettings",
    "Input",
    "KeyHeader",
    "Ledger",
    "Modality",
    "ModelCatalog",
    "ModelConfig",
    "ModelDescriptor",
    "ModelError",
    "ModelErrorCode",
    "ModelEvent",
    "ModelExecutor",
    "ModelMiddleware",
    "ModelProvider",
    "ModelRequest",
    "ModelSelector",
    "ModelStream",
    "OllamaModule",
    "OllamaSettings",
    "OpenAICompatibleModule",
    "OpenAIResponsesModule",
    "OpenAITokens",
    "OutputFormat",
    "OutputStrategy",
    "Price",
    "Proceed",
    "PromptSection",
    "ProviderExecutor",
    "ProvidersModule",
    "Rates",
    "RatesAbove",
    "Reasoning",
    "ReasoningDelta",
    "RequestedCall",
    "Reset",
    "ResponsesSettings",
    "RetryPolicy",
    "Stability",
    "TextDelta",
    "ThinkingStyle",
    "Timeouts",
    "TokenBudget",
    "TokenCount",
    "TokenCounter",
    "TokenUsage",
    "ToolDefinition",
    "Transcript",
    "VertexProject",
]
