"""The referees of `model.catalog/v1` and `model.selector/v1`: models that people choose."""

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import cast

import anyio

from agentslot._conformance import Broken, Suite, check, demand
from agentslot.model import ModelCatalog, ModelDescriptor, ModelSelector
from agentslot.session import ClassifiedError, ModelConfig, Reasoning, is_identity
from agentslot.standardagent.conformance.asking import (
    STEP_SECONDS,
    expect_end_when_cancelled,
    expect_no_blocking,
)

MakeCatalog = Callable[[], ModelCatalog]

Choosing = tuple[ModelSelector, ModelConfig]
"""A selector, and a choice that it allows."""

MakeChoosing = Callable[[], Choosing]

_UNHEARD_OF = ModelConfig("nobody", "a-model-that-nobody-has")


@check
async def every_model_is_described(make: MakeCatalog) -> None:
    """By its name and what it can do, in figures that fit each other."""
    for model in _models(make()):
        named = is_identity(model.provider) and is_identity(model.model)
        demand(named, f"{model.model!r} of {model.provider!r} is no name of a model")
        known = model.capabilities
        window, most = known.context_window_tokens, known.max_output_tokens
        demand(
            window > 0 and 0 <= most <= window,
            f"{model.model!r} has a window of {window} tokens, and writes up to {most}",
        )
        media = known.input_modalities and known.output_modalities
        demand(bool(media), f"{model.model!r} reads nothing, or writes nothing")
        asked = Reasoning.DEFAULT in known.reasoning
        demand(asked, f"{model.model!r} cannot be asked without an effort of reasoning")


@check
async def all_models_are_of_one_provider(make: MakeCatalog) -> None:
    """Its key in the slot: a catalog of several providers is several catalogs."""
    providers = sorted({model.provider for model in _models(make())})
    demand(len(providers) <= 1, f"its models are of {' and '.join(providers)}")


@check
async def no_model_stands_there_twice(make: MakeCatalog) -> None:
    """People choose by the name."""
    names = [model.model for model in _models(make())]
    twice = sorted({name for name in names if names.count(name) > 1})
    demand(not twice, f"it names {', '.join(twice)} more than once")


@check
async def nobody_can_change_what_others_see(make: MakeCatalog) -> None:
    """What it gives belongs to whoever asked."""
    catalog = make()
    models = _models(catalog)
    given: object = catalog.models()
    if isinstance(given, list):
        given.clear()
    demand(_models(catalog) == models, "what somebody does to its list, it does to its models")


@check
async def a_catalog_answers_at_once(make: MakeCatalog) -> None:
    """It is asked on the event loop, which everybody shares."""
    catalog, times = make(), list[float]()
    for _ in range(3):  # a busy machine may keep anybody, but hardly each time
        began = perf_counter()
        catalog.models()
        times.append(perf_counter() - began)
    demand(min(times) < STEP_SECONDS, f"it takes {min(times):.2g} seconds")


def _models(catalog: ModelCatalog) -> list[ModelDescriptor]:
    models = list(cast("Sequence[object]", catalog.models()))
    strangers = {type(each).__name__ for each in models if not isinstance(each, ModelDescriptor)}
    demand(not strangers, f"it describes models by {', '.join(sorted(strangers))}")
    return cast("list[ModelDescriptor]", models)


@check
async def an_allowed_choice_gets_a_model(make: MakeChoosing) -> None:
    """The same one, or the one that an alias stands for."""
    selector, config = make()
    await _chosen(selector, config)


@check
async def a_model_that_was_chosen_stands(make: MakeChoosing) -> None:
    """It is recorded; chosen again, for a fork perhaps, it is still the same."""
    selector, config = make()
    chosen = await _chosen(selector, config)
    again = await _chosen(selector, chosen)
    demand(again == chosen, f"it made {chosen.model!r} of it, and {again.model!r} of that")


@check
async def a_refusal_says_why(make: MakeChoosing) -> None:
    """As a ClassifiedError, whose text people read; anything else looks like a failure."""
    selector, _ = make()
    try:
        await _chosen(selector, _UNHEARD_OF)
    except ClassifiedError as refusal:
        demand(bool(refusal.message.strip()), f"{refusal.code} comes without a word")


@check
async def choices_at_the_same_time_do_not_disturb_each_other(make: MakeChoosing) -> None:
    """One selector decides for all Sessions."""
    selector, config = make()
    alone = await _chosen(selector, config)
    found: list[ModelConfig] = []

    async def choose() -> None:
        found.append(await _chosen(selector, config))

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(choose)
    demand(found == [alone] * 3, f"it chose {[each.model for each in found]}, and {alone.model!r}")


@check
async def a_selector_does_not_keep_the_event_loop(make: MakeChoosing) -> None:
    """What takes long waits for it, in a thread if need be."""
    selector, config = make()
    await expect_no_blocking(partial(selector.select, config))


@check
async def a_choice_that_is_cancelled_ends(make: MakeChoosing) -> None:
    """The cancellation of whoever chooses is let pass."""
    selector, config = make()
    await expect_end_when_cancelled(partial(selector.select, config))


async def _chosen(selector: ModelSelector, config: ModelConfig) -> ModelConfig:
    chosen = cast("object", await selector.select(config))
    if not isinstance(chosen, ModelConfig):
        raise Broken(f"it chose a {type(chosen).__name__}, no ModelConfig")
    return chosen


MODEL_CATALOG_SUITE: Suite[MakeCatalog] = Suite(
    "model.catalog/v1",
    (
        every_model_is_described,
        all_models_are_of_one_provider,
        no_model_stands_there_twice,
        nobody_can_change_what_others_see,
        a_catalog_answers_at_once,
    ),
)
MODEL_SELECTOR_SUITE: Suite[MakeChoosing] = Suite(
    "model.selector/v1",
    (
        an_allowed_choice_gets_a_model,
        a_model_that_was_chosen_stands,
        a_refusal_says_why,
        choices_at_the_same_time_do_not_disturb_each_other,
        a_selector_does_not_keep_the_event_loop,
        a_choice_that_is_cancelled_ends,
    ),
)
