"""Several providers in one application, each over its own wire."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from agentslot import Application, Module
from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.model import (
    MODEL_CATALOG,
    MODEL_EXECUTOR,
    MODEL_PROVIDERS,
    MODEL_SELECTOR,
    TOKEN_COUNTER,
    AnthropicModule,
    ModelConfig,
    OpenAICompatibleModule,
)
from agentslot.model.testing import ScriptedExecutor
from agentslot.session import ClassifiedError, ErrorKind, MemoryStoreModule, Role
from agentslot.standardagent import new_application
from tests.loopback import Loopback, loopback
from tests.model.support import application, message, request
from tests.model.test_openai_compatible import HELLO
from tests.model.test_providers import MESSAGES

GPT, CLAUDE = ModelConfig("openai", "m"), ModelConfig("anthropic", "claude-opus-5")


@asynccontextmanager
async def servers() -> AsyncGenerator[tuple[Loopback, Loopback]]:
    async with loopback(HELLO) as openai, loopback(MESSAGES) as anthropic:
        yield openai, anthropic


def modules(openai: str, anthropic: str) -> list[Module]:
    return [
        OpenAICompatibleModule(f"{openai}/v1", ["m"]),
        AnthropicModule(["claude-opus-5"], base_url=anthropic, api_key_env=None),
    ]


def agent(channel: InProcessChannel, *parts: Module) -> Application:
    standard = [MemoryStoreModule(), gateway_channel("test", channel)]
    return new_application("test", modules=[*standard, *parts], default_model=GPT)


async def test_a_session_switches_between_providers_at_every_turn() -> None:
    channel = InProcessChannel()
    async with (
        servers() as (openai, anthropic),
        agent(channel, *modules(openai.url, anthropic.url)).start(),
    ):
        session = await channel.create_session(agent="a", workspace="w")
        for config in (CLAUDE, GPT, CLAUDE):
            await session.send_and_wait("hi")
            await session.update_model_config(config)
        result = await session.send_and_wait("hi")
    assert result.text == "hi"
    assert [request.path for request in openai.requests] == ["/v1/chat/completions"] * 2
    assert [request.path for request in anthropic.requests] == ["/v1/messages"] * 2
    assert len(anthropic.requests[-1].json()["messages"]) == 7


async def test_each_provider_counts_and_lists_its_own_models() -> None:
    built = application(*modules("http://127.0.0.1:1", "http://127.0.0.1:2")).build()
    assert list(built[MODEL_PROVIDERS]) == list(built[MODEL_CATALOG]) == ["openai", "anthropic"]
    for config in (GPT, CLAUDE):
        asked = request([message(1, Role.USER, "hi")], config=config)
        assert (await built[TOKEN_COUNTER].count_tokens(asked)).tokens > 0


def test_a_provider_that_is_not_there_is_named_with_those_that_are() -> None:
    built = application(*modules("http://127.0.0.1:1", "http://127.0.0.1:2")).build()
    with pytest.raises(ClassifiedError, match="mean 'anthropic'") as caught:
        built[MODEL_EXECUTOR].inspect(ModelConfig("antropic", "claude-opus-5"))
    assert caught.value.code == "model_not_supported"


async def test_fingerprints_tell_requests_servers_and_models_apart() -> None:
    built = application(*modules("http://127.0.0.1:1", "http://127.0.0.1:2")).build()
    openai, anthropic = built[MODEL_PROVIDERS]["openai"], built[MODEL_PROVIDERS]["anthropic"]
    hi, ho = (request([message(1, Role.USER, text)], config=GPT) for text in ("hi", "ho"))
    prints = [
        await provider.fingerprint(asked)
        for provider, asked in ((openai, hi), (openai, ho), (anthropic, hi))
    ]
    assert len({*prints, await openai.fingerprint(hi)}) == 3


def test_an_executor_of_ones_own_replaces_the_one_over_the_providers() -> None:
    mine = ScriptedExecutor()
    parts = [*modules("http://127.0.0.1:1", "http://127.0.0.1:2")]
    built = agent(InProcessChannel(), *parts, Module("mine", MODEL_EXECUTOR.set(mine))).build()
    assert built[MODEL_EXECUTOR] is mine


class Aliases:
    """Knows one alias, and refuses one model."""

    async def select(self, config: ModelConfig) -> ModelConfig:
        if config.model == "forbidden":
            raise ClassifiedError(ErrorKind.FORBIDDEN, "model_not_allowed", "not for you")
        return CLAUDE if config.model == "best" else config


async def test_a_selector_decides_on_what_people_choose_and_that_is_recorded() -> None:
    channel = InProcessChannel()
    selector = Module("test.selector", MODEL_SELECTOR.set(Aliases()))
    parts = [*modules("http://127.0.0.1:1", "http://127.0.0.1:2"), selector]
    async with agent(channel, *parts).start():
        session = await channel.create_session(agent="a", workspace="w")
        await session.update_model_config(ModelConfig("", "best"))
        assert (await session.view()).model_config == CLAUDE
        with pytest.raises(ClassifiedError, match="not for you"):
            await session.update_model_config(ModelConfig("openai", "forbidden"))
        with pytest.raises(ClassifiedError, match="not for you"):
            await channel.create_session(
                agent="a", workspace="w", model_config=ModelConfig("openai", "forbidden")
            )
