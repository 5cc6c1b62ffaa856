"""The referees of catalogs and selectors of models."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from agentslot import Application, Module
from agentslot.model import (
    MODEL_CATALOG,
    AnthropicModule,
    ExecutionCapabilities,
    GoogleModule,
    ModelCatalog,
    ModelDescriptor,
    OllamaModule,
    OpenAIResponsesModule,
)
from agentslot.session import ClassifiedError, ErrorKind, ModelConfig, Reasoning
from agentslot.standardagent.conformance import (
    MODEL_CATALOG_SUITE,
    MODEL_SELECTOR_SUITE,
    asking,
    choosing,
)
from tests.standardagent.conformance.judging import broken_rules
from tests.standardagent.conformance.wrong import Work, stubborn, unready

CAN = ExecutionCapabilities(context_window_tokens=1000, max_output_tokens=100)
ONE = ModelDescriptor("mine", "one", CAN)
FAST = ModelConfig("mine", "one")


class Catalog:
    def __init__(self, *models: Any) -> None:
        self._models = models

    def models(self) -> Any:
        return self._models


async def test_a_good_catalog_conforms() -> None:
    await MODEL_CATALOG_SUITE.check(lambda: Catalog(ONE, replace(ONE, model="two")))
    await MODEL_CATALOG_SUITE.check(Catalog)


@pytest.mark.parametrize(
    "module",
    [
        AnthropicModule(["claude-opus-5", "claude-3-opus"]),
        GoogleModule(["gemini-2.5-pro"]),
        OllamaModule(["llama3.2"]),
        OpenAIResponsesModule(["gpt-5", "gpt-4.1-mini"]),
    ],
    ids=lambda module: type(module).__name__,
)
async def test_our_catalogs_conform(module: Module) -> None:
    catalogs = Application("catalogs", [module]).build()[MODEL_CATALOG]
    assert catalogs
    for catalog in catalogs.values():
        await MODEL_CATALOG_SUITE.check(partial(_itself, catalog))


def _itself(catalog: ModelCatalog) -> ModelCatalog:
    return catalog


def spoiled(**figures: Any) -> Catalog:
    return Catalog(replace(ONE, capabilities=replace(CAN, **figures)))


class Shared(Catalog):
    def __init__(self) -> None:
        self._list = [ONE]

    def models(self) -> Any:
        return self._list


class Slow(Catalog):
    def models(self) -> Any:
        enough = time.perf_counter() + 0.001
        while time.perf_counter() < enough:
            pass
        return [ONE]


DESCRIBED = "every_model_is_described"


@pytest.mark.parametrize(
    ("make", "rule", "said"),
    [
        (lambda: Catalog(replace(ONE, model=" one")), DESCRIBED, "' one' of 'mine' is no name"),
        (lambda: spoiled(context_window_tokens=0), DESCRIBED, "has a window of 0 tokens"),
        (lambda: spoiled(max_output_tokens=1001), DESCRIBED, "writes up to 1001"),
        (lambda: spoiled(input_modalities=frozenset[Any]()), DESCRIBED, "reads nothing"),
        (lambda: spoiled(reasoning=(Reasoning.HIGH,)), DESCRIBED, "without an effort"),
        (
            lambda: Catalog(ONE, replace(ONE, provider="theirs", model="two")),
            "all_models_are_of_one_provider",
            "its models are of mine and theirs",
        ),
        (lambda: Catalog(ONE, ONE), "no_model_stands_there_twice", "it names one more than once"),
        (Shared, "nobody_can_change_what_others_see", "it does to its models"),
        (Slow, "a_catalog_answers_at_once", "it takes 0.001 seconds"),
    ],
)
async def test_a_broken_catalog_fails_the_check_that_is_for_it(
    make: Callable[[], Catalog], rule: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if make is Slow:
        monkeypatch.setattr(choosing, "STEP_SECONDS", 0.0005)
    found = await broken_rules(MODEL_CATALOG_SUITE, make)
    assert list(found) == [rule]
    assert said in found[rule]


async def test_models_that_are_only_named_are_not_described() -> None:
    found = await broken_rules(MODEL_CATALOG_SUITE, lambda: Catalog("one"))
    assert found[DESCRIBED] == "it describes models by str"


class Selector:
    def __init__(self, work: Work) -> None:
        self.select: Any = work


async def aliases(config: ModelConfig) -> ModelConfig:
    if config.model not in ("one", "fast"):
        text = f"{config.model!r} is not allowed here: take one"
        raise ClassifiedError(ErrorKind.FORBIDDEN, "model_not_allowed", text)
    return replace(config, model="one")


def allowing(work: Work, config: ModelConfig = FAST) -> Callable[[], tuple[Selector, ModelConfig]]:
    return lambda: (Selector(work), config)


async def test_a_good_selector_conforms() -> None:
    await MODEL_SELECTOR_SUITE.check(allowing(aliases))
    await MODEL_SELECTOR_SUITE.check(allowing(aliases, ModelConfig("mine", "fast")))


async def names(config: ModelConfig) -> str:
    return (await aliases(config)).model


async def wanders(config: ModelConfig) -> ModelConfig:
    return replace(config, model=f"{config.model}-latest")


async def raises(config: ModelConfig) -> ModelConfig:
    return {"one": config}[config.model]


async def is_silent(config: ModelConfig) -> ModelConfig:
    if config != FAST:
        raise ClassifiedError(ErrorKind.FORBIDDEN, "model_not_allowed", "")
    return config


async def blocks(config: ModelConfig) -> ModelConfig:
    enough = time.perf_counter() + 0.001
    while time.perf_counter() < enough:
        pass
    return await aliases(config)


@pytest.mark.parametrize(
    ("work", "rule", "said"),
    [
        (wanders, "a_model_that_was_chosen_stands", "'one-latest' of it, and 'one-latest-latest'"),
        (raises, "a_refusal_says_why", "KeyError('a-model-that-nobody-has')"),
        (is_silent, "a_refusal_says_why", "model_not_allowed comes without a word"),
        (
            unready(aliases),
            "choices_at_the_same_time_do_not_disturb_each_other",
            "busy",
        ),
        (blocks, "a_selector_does_not_keep_the_event_loop", "it keeps the event loop"),
        (stubborn(aliases), "a_choice_that_is_cancelled_ends", "goes on"),
    ],
)
async def test_a_broken_selector_fails_the_check_that_is_for_it(
    work: Work, rule: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rule == "a_choice_that_is_cancelled_ends":
        monkeypatch.setattr(asking, "CANCEL_SECONDS", 0.0)
    if work is blocks:
        monkeypatch.setattr(asking, "STEP_SECONDS", 0.0005)
    found = await broken_rules(MODEL_SELECTOR_SUITE, allowing(work))
    assert list(found) == [rule]
    assert said in found[rule]


async def test_a_selector_that_gives_a_name_chooses_nothing() -> None:
    found = await broken_rules(MODEL_SELECTOR_SUITE, allowing(names))
    assert found["an_allowed_choice_gets_a_model"] == "it chose a str, no ModelConfig"
