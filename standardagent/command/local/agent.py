"""The agent around a local model: the coding agent if it can call tools, else it only talks."""

from pathlib import Path

from agentslot import Application
from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.model import (
    ExecutionCapabilities,
    ModelDescriptor,
    OpenAICompatibleModule,
    OutputStrategy,
)
from agentslot.session import FileStoreModule, ModelConfig
from agentslot.standardagent.application import new_application
from agentslot.standardagent.command.coding import ModelChoice, coding_agent
from agentslot.standardagent.command.local.server import LocalModel
from agentslot.standardagent.command.places import sessions_folder_of
from agentslot.standardagent.config import AgentConfig
from agentslot.standardagent.context import TailCompactorModule

LOCAL_AGENT = "local"
"""Its Sessions stand apart from those of the coding agent, whose models are not here."""

_PROVIDER = "local"
_PROMPT = "You answer questions briefly and correctly."
_TOKENS_PER_INPUT = 512
"""What a message, a call or a result takes of the window, roughly."""

_MAX_ANSWER_TOKENS = 2_048
_COOL = 0.2


def local_agent(folder: Path, model: LocalModel) -> Application:
    """An agent whose model runs here."""
    choice = _choice(model)
    # Its window is small, so what is long ago is left out of what it sees.
    forgetful = TailCompactorModule(max(1, model.context_tokens // _TOKENS_PER_INPUT))
    if model.calls_tools:
        return coding_agent(folder, choice, forgetful)
    return new_application(
        LOCAL_AGENT,
        modules=[
            FileStoreModule(sessions_folder_of(folder)),
            choice.server,
            forgetful,
            gateway_channel("api", InProcessChannel()),
        ],
        config=AgentConfig(system_prompt=_PROMPT),
        default_model=choice.config,
    )


def introduction(model: LocalModel) -> str:
    """One line that says what to expect of it."""
    can = (
        "it reads, and asks before it writes or runs something"
        if model.calls_tools
        else "it cannot call tools, so it only talks"
    )
    return f"{model.name} runs on this machine, {model.context_tokens:,} tokens of context; {can}"


def _choice(model: LocalModel) -> ModelChoice:
    answer_tokens = min(_MAX_ANSWER_TOKENS, model.context_tokens // 4)
    abilities = ExecutionCapabilities(
        model.context_tokens,
        tool_calling=model.calls_tools,
        structured_output=(OutputStrategy.NATIVE, OutputStrategy.PROMPTED),
    )
    server = OpenAICompatibleModule(
        f"{model.url}/v1",
        [ModelDescriptor(_PROVIDER, model.name, abilities)],
        provider=_PROVIDER,
        headers={"authorization": f"Bearer {model.key}"},
    )
    # A small model rambles unless it is kept cool, and once it repeats itself it would never end.
    temperature = None if model.calls_tools else _COOL
    config = ModelConfig(_PROVIDER, model.name, temperature=temperature, max_tokens=answer_tokens)
    return ModelChoice(config, server)
