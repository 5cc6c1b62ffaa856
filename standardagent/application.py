"""The standard agent as an application: the fixed Runtime, the default loop, your modules."""

from collections.abc import Sequence

from agentslot import Application, Module, Requirement
from agentslot.interaction import GATEWAY_CHANNELS
from agentslot.model import MODEL_EXECUTOR, TOKEN_COUNTER, ProvidersModule
from agentslot.session import SESSION_STORE, ModelConfig
from agentslot.standardagent.config import AgentConfig
from agentslot.standardagent.gateway.mounting import ChannelCheckModule
from agentslot.standardagent.loop import AGENT_LOOP, StandardLoopModule
from agentslot.standardagent.observe import ObservationModule
from agentslot.standardagent.runtime.module import RuntimeModule

STANDARD_AGENT_PROFILE = (
    AGENT_LOOP.required(),
    SESSION_STORE.required(),
    MODEL_EXECUTOR.required(),
    TOKEN_COUNTER.required(),
    GATEWAY_CHANNELS.at_least(1),
)
"""What every standard agent needs, whatever else it has."""


def new_application(
    name: str,
    *,
    modules: Sequence[Module],
    default_model: ModelConfig,
    config: AgentConfig | None = None,
    requirements: Sequence[Requirement] = (),
) -> Application:
    """A standard agent, not built yet.

    Args:
        name: name of the application.
        modules: the components: a session store, a model, at least one channel, tools, policies.
        default_model: the model of Sessions that name none.
        config: prompt, exposed tools and limits.
        requirements: what this application demands beyond the standard profile.

    Raises:
        TypeError: `default_model` is no ModelConfig, or `config` no AgentConfig.
    """
    # The name of a model is a likely mistake, which the first Session would meet otherwise.
    if not isinstance(default_model, ModelConfig):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped code
        raise TypeError(
            f"default_model must be a ModelConfig(provider, model), not {default_model!r}"
        )
    if not isinstance(config, AgentConfig | None):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped code
        raise TypeError(f"config must be an AgentConfig(…), not {config!r}")
    return Application(
        name,
        [
            RuntimeModule(config or AgentConfig(), default_model),
            ObservationModule(),
            StandardLoopModule(),
            ProvidersModule(),
            *modules,
            ChannelCheckModule(),
        ],
        [*STANDARD_AGENT_PROFILE, *requirements],
    )
