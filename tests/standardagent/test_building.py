"""What an agent cannot be built with, and how that is said."""

from collections.abc import Callable, Sequence

import pytest

from agentslot import AgentSlotError, Application, InvalidContribution, Module
from agentslot.interaction import GATEWAY_CHANNELS, InProcessChannel, gateway_channel
from agentslot.model.testing import ScriptedModule
from agentslot.session import MemoryStoreModule, MessageInput, ModelConfig
from agentslot.standardagent import (
    CONTEXT_SOURCES,
    AgentConfig,
    ContextInput,
    ContextRetention,
    new_application,
)
from agentslot.standardagent.loop import StandardLoopModule
from agentslot.tool import TOOLS, function_tool


def application(*modules: Module, config: AgentConfig | None = None) -> Application:
    return new_application(
        "test",
        modules=[
            MemoryStoreModule(),
            ScriptedModule(),
            gateway_channel("api", InProcessChannel()),
            *modules,
        ],
        config=config,
        default_model=ModelConfig("test", "scripted"),
    )


def test_a_channel_that_nobody_would_bind_is_refused() -> None:
    by_hand = Module("by-hand", GATEWAY_CHANNELS.add("raw", InProcessChannel()))
    with pytest.raises(InvalidContribution, match="'raw' is bound to no Gateway") as caught:
        application(by_hand).build()
    assert (caught.value.slot, caught.value.key) == ("gateway.channel", "raw")
    assert "gateway_channel('raw', channel)" in caught.value.fix


@pytest.mark.parametrize("make", [MemoryStoreModule, ScriptedModule, StandardLoopModule])
def test_a_shipped_module_is_named_by_the_line_that_made_it(make: Callable[[], Module]) -> None:
    made = make()
    assert Module("here").where().rpartition(":")[0] == __file__
    assert made.where().rpartition("made at ")[2].rpartition(":")[0] == __file__


class Source:
    key = "source"

    async def contribute(self, context: ContextInput) -> Sequence[MessageInput]:
        return ()


@function_tool
def look() -> str:
    """Look around."""
    return "nothing"


@pytest.mark.parametrize(
    ("module", "config", "problem"),
    [
        (
            Module("two", CONTEXT_SOURCES.append(Source()), CONTEXT_SOURCES.append(Source())),
            AgentConfig(),
            "the context sources have the keys 'source', 'source'",
        ),
        (
            Module("misnamed", TOOLS.add("peek", look)),
            AgentConfig(tool_keys=("peek",)),
            "the tool under key 'peek' calls itself 'look'",
        ),
        (Module("none"), AgentConfig(tool_keys=("",)), "key"),
    ],
)
def test_what_the_runtime_refuses_is_one_of_our_errors(
    module: Module, config: AgentConfig, problem: str
) -> None:
    with pytest.raises(AgentSlotError, match=problem):
        application(module, config=config).build()


def test_settings_that_code_without_types_gives_mean_what_they_say() -> None:
    kept = AgentConfig(context_retention="retain_all", tool_keys=None)  # type: ignore[arg-type]  # untyped code
    assert kept.context_retention is ContextRetention.RETAIN_ALL
    assert kept.tool_keys == ()
    with pytest.raises(ValueError, match="'all' is not a valid ContextRetention"):
        AgentConfig(context_retention="all")  # type: ignore[arg-type]  # untyped code
