"""What an agent cannot be built with, and how that is said."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest

from agentslot import (
    AgentSlotError,
    Application,
    BuildFailed,
    InvalidContribution,
    Module,
    interaction,
    model,
    session,
    standardagent,
)
from agentslot.interaction import GATEWAY_CHANNELS, InProcessChannel, gateway_channel
from agentslot.model import MODEL_PROVIDERS
from agentslot.model.testing import ScriptedModule
from agentslot.session import (
    ARTIFACT_STORE,
    SESSION_STORE,
    WORKSPACE_MANAGER,
    ExtensionDescriptor,
    MemoryStoreModule,
    MessageInput,
    ModelConfig,
    credential,
)
from agentslot.session.credential import CREDENTIAL_RESOLVER
from agentslot.standardagent import (
    APPROVAL_SERVICE,
    CONTEXT_SOURCES,
    AgentConfig,
    ContextInput,
    ContextRetention,
    Decision,
    PolicyEffect,
    PolicyModule,
    Rule,
    Rulebook,
    ToolRules,
    goal,
    new_application,
)
from agentslot.standardagent.goal import GOAL_EVALUATOR, GOAL_STORE
from agentslot.standardagent.hook import (
    TOOL_PREFLIGHTS,
    ToolPreflightResult,
    ToolPreflightView,
    ToolScope,
)
from agentslot.standardagent.loop import StandardLoopModule
from agentslot.tool import TOOLS, ContainerEnvironment, ToolsModule, WebModule, function_tool
from agentslot.tool.middleware import ResultCache


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


def untyped(values: dict[str, str]) -> dict[str, Any]:
    """What code without types passes."""
    return dict(values)


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


class Preflight:
    def descriptor(self) -> ExtensionDescriptor:
        return ExtensionDescriptor.of("test.preflight", "1")

    def scope(self) -> ToolScope:
        return ToolScope(("loook",))

    async def evaluate(self, view: ToolPreflightView) -> ToolPreflightResult:
        return ToolPreflightResult.deny("not now")


DENY = Decision(PolicyEffect.DENY, "nobody looks")


@pytest.mark.parametrize(
    ("module", "who"),
    [
        (Module("hook", TOOL_PREFLIGHTS.append(Preflight())), "the scope of hook 'test.preflight'"),
        (PolicyModule(ToolRules({"loook": DENY}, fallback=DENY)), "a rule of ToolRules"),
        (
            PolicyModule(
                Rulebook(
                    [Rule(then=DENY.effect, reason=DENY.reason, tools=["loook"])], fallback=DENY
                )
            ),
            "a rule of Rulebook",
        ),
    ],
)
def test_a_rule_for_a_tool_whose_name_is_misspelt_is_told(
    module: Module, who: str, caplog: pytest.LogCaptureFixture
) -> None:
    application(ToolsModule(look), module, config=AgentConfig(tool_keys=("look",))).build()
    assert caplog.messages == [f"{who} names 'loook', which is no tool here; did you mean 'look'?"]


def test_a_rule_for_a_tool_of_another_agent_is_no_mistake(caplog: pytest.LogCaptureFixture) -> None:
    rules = PolicyModule(ToolRules({"bash": DENY, "look": DENY}, fallback=DENY))
    application(ToolsModule(look), rules, config=AgentConfig(tool_keys=("look",))).build()
    assert caplog.messages == []


def test_tools_of_which_none_is_offered_are_told(caplog: pytest.LogCaptureFixture) -> None:
    application(ToolsModule(look)).build()
    assert caplog.messages == [
        "no tool is offered to the model: AgentConfig.tool_keys names none of look"
    ]


@pytest.mark.parametrize("name", ["tools", "effects", "paths", "hosts"])
def test_a_single_text_is_no_condition_of_a_rule(name: str) -> None:
    """Its letters were the names, so that a rule that denies fitted nothing."""
    with pytest.raises(TypeError, match=rf"{name} are several; for one, write \['bash'\]"):
        Rule(then=DENY.effect, reason=DENY.reason, **untyped({name: "bash"}))


@pytest.mark.parametrize(
    "make",
    [
        lambda: ResultCache(also="price"),
        lambda: WebModule(fetch=False, request_hosts="example.com"),
        lambda: WebModule(fetch=False, request_hosts=["example.com"], request_methods="GET"),
        lambda: WebModule(fetch=False, private_networks="10.0.0.0/8"),
        lambda: ContainerEnvironment("image", variables="PATH"),
    ],
)
def test_a_single_text_is_not_taken_for_several(make: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match="are several"):
        make()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"system_prompt": lambda: "Be brief."}, "comes from a context source"),
        ({"max_tool_calls_per_run": "3"}, "max_tool_calls_per_run must be a number, not '3'"),
    ],
)
def test_a_setting_of_another_type_is_refused_where_it_is_written(
    wrong: dict[str, Any], why: str
) -> None:
    with pytest.raises(TypeError, match=why):
        AgentConfig(**wrong)


def test_a_mapping_is_no_config() -> None:
    config: Any = {"system_prompt": "Be brief."}
    with pytest.raises(TypeError, match=r"config must be an AgentConfig\(…\), not \{"):
        application(config=config)


@pytest.mark.parametrize(
    ("slot", "package"),
    [
        (ARTIFACT_STORE, session),
        (CREDENTIAL_RESOLVER, credential),
        (WORKSPACE_MANAGER, session),
        (SESSION_STORE, session),
        (MODEL_PROVIDERS, model),
        (GATEWAY_CHANNELS, interaction),
        (GOAL_STORE, goal),
        (GOAL_EVALUATOR, goal),
        (APPROVAL_SERVICE, standardagent),
    ],
)
def test_what_is_said_to_fill_a_slot_is_there(slot: Any, package: ModuleType) -> None:
    name, _, rest = slot.filled_by.partition("(")
    assert name in package.__all__
    assert rest.endswith(")")


def test_an_agent_without_a_store_is_told_what_keeps_sessions() -> None:
    channel = gateway_channel("api", InProcessChannel())
    modules = [ScriptedModule(), channel]
    incomplete = new_application("bare", modules=modules, default_model=ModelConfig("test", "x"))
    with pytest.raises(BuildFailed) as caught:
        incomplete.build()
    fixes = {getattr(each, "fix", "") for each in caught.value.exceptions}
    assert fixes == {
        "install a module that fills slot 'session.store', such as FileStoreModule(directory)"
    }
