"""The agent: one tool, and the models of five providers."""

from agentslot import Application
from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.model import (
    AnthropicModule,
    GoogleModule,
    ModelConfig,
    OllamaModule,
    OpenAICompatibleModule,
    OpenAIResponsesModule,
    Reasoning,
)
from agentslot.model.provider import ProviderModule
from agentslot.session import MemoryStoreModule
from agentslot.standardagent import AgentConfig, new_application
from agentslot.tool import ToolsModule, function_tool

MODELS = {
    "anthropic-messages": ModelConfig("anthropic", "claude-sonnet-5", Reasoning.LOW),
    "openai-responses": ModelConfig("openai", "gpt-5-mini", Reasoning.LOW),
    "google-generative-ai": ModelConfig("google", "gemini-3.8-flash", Reasoning.LOW),
    "openai-completions": ModelConfig("chat", "gpt-5-mini", Reasoning.LOW),
    "ollama-chat": ModelConfig("ollama", "qwen3"),
}
"""The model that is asked over each wire."""

_PEOPLE = {"Ulm": 129_000, "Jena": 111_000, "Trier": 112_000, "Siegen": 102_000, "Hanau": 103_000}


@function_tool
async def population(city: str) -> int:
    """Count the people of a German city.

    Args:
        city: name of the city.
    """
    return _PEOPLE[city]


def application(channel: InProcessChannel, server: str | None) -> Application:
    """The agent.

    Args:
        channel: how it is spoken to.
        server: base URL of the vendors on this machine; None for the real ones, whose keys stand in
            ANTHROPIC_API_KEY, OPENAI_API_KEY and GEMINI_API_KEY.
    """
    return new_application(
        "five-wires",
        modules=[
            MemoryStoreModule(),
            *(_real_vendors() if server is None else _local_vendors(server)),
            ToolsModule(population),
            gateway_channel("api", channel),
        ],
        config=AgentConfig(
            system_prompt="Answer in one sentence. Look every city up before you answer.",
            tool_keys=("population",),
        ),
        default_model=MODELS["anthropic-messages"],
    )


def _real_vendors() -> list[ProviderModule]:
    return [
        AnthropicModule(["claude-sonnet-5"]),
        OpenAIResponsesModule(["gpt-5-mini"]),
        GoogleModule(["gemini-3.8-flash"]),
        OpenAICompatibleModule(
            "https://api.openai.com/v1",
            ["gpt-5-mini"],
            api_key_env="OPENAI_API_KEY",
            provider="chat",
        ),
        OllamaModule(["qwen3"]),
    ]


def _local_vendors(server: str) -> list[ProviderModule]:
    return [
        AnthropicModule(["claude-sonnet-5"], base_url=server, api_key_env=None),
        OpenAIResponsesModule(["gpt-5-mini"], base_url=server, api_key_env=None),
        GoogleModule(["gemini-3.8-flash"], base_url=server, api_key_env=None),
        OpenAICompatibleModule(server, ["gpt-5-mini"], provider="chat"),
        OllamaModule(["qwen3"], host=server),
    ]
