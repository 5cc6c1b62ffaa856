"""What an attempt cost, and how long an answer may be, as the executor reports and asks."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import (
    MODEL_EXECUTOR,
    AnthropicModule,
    AttemptOutcome,
    ExecutionCapabilities,
    ModelConfig,
    ModelDescriptor,
    OpenAICompatibleModule,
    Price,
)
from agentslot.model.catalog import resolve
from agentslot.model.outputlimit import clamp_max_tokens
from agentslot.model.provider import ProviderModule
from agentslot.model.testing import MemoryRecorder
from agentslot.session import Role
from tests.loopback import Answer, Loopback, loopback
from tests.model.support import application, collect, message, request

WINDOW = 10_000


def answer(served: str, usage: dict[str, int] | None) -> Answer:
    chunk = {"model": served, "choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}
    last: dict[str, object] = {"choices": [], "usage": usage}
    return Answer(f"data: {json.dumps(chunk)}\n\ndata: {json.dumps(last)}\n\n".encode())


async def outcome_of(
    models: list[str | ModelDescriptor], *answers: Answer, model: str
) -> AttemptOutcome:
    recorder = MemoryRecorder()
    async with loopback(*answers) as server:
        module = OpenAICompatibleModule(f"{server.url}/v1", models)
        async with application(module).start() as runtime:
            asked = request([message(1, Role.USER, "hi")], config=ModelConfig("openai", model))
            await collect(runtime.assembly[MODEL_EXECUTOR].execute(asked, recorder))
    [outcome] = recorder.outcomes.values()
    assert outcome is not None
    return outcome


USAGE = {"prompt_tokens": 1_000, "completion_tokens": 100}


async def test_an_attempt_is_priced_by_the_catalog() -> None:
    outcome = await outcome_of(["gpt-5-mini"], answer("gpt-5-mini", USAGE), model="gpt-5-mini")
    assert outcome.cost_usd == Decimal("0.00045")


async def test_the_model_that_answered_sets_the_price() -> None:
    served = resolve("gpt-5-nano").price
    assert served is not None
    outcome = await outcome_of(["gpt-5-mini"], answer("gpt-5-nano", USAGE), model="gpt-5-mini")
    assert outcome.usage is not None
    assert outcome.cost_usd == served.cost(outcome.usage)
    outcome = await outcome_of(["gpt-5-mini"], answer("unheard-of", USAGE), model="gpt-5-mini")
    assert outcome.cost_usd == Decimal("0.00045")


def tiered(served: str, tier: str) -> Answer:
    """An answer that names the tier by which it was served."""
    plain = answer(served, USAGE)
    return Answer(plain.body.replace(b'{"model"', f'{{"service_tier": "{tier}", "model"'.encode()))


@pytest.mark.parametrize(
    ("tier", "dollars"),
    [("default", "0.00225"), ("flex", "0.001125"), ("priority", "0.0045"), ("ultra", "0.00225")],
)
async def test_the_tier_that_served_an_answer_sets_the_price(tier: str, dollars: str) -> None:
    outcome = await outcome_of(["gpt-5"], tiered("gpt-5", tier), model="gpt-5")
    assert outcome.usage is not None
    assert outcome.usage.service_tier == ("" if tier == "default" else tier)
    assert outcome.cost_usd == Decimal(dollars)


@pytest.mark.parametrize(("tier", "dollars"), [("flex", "0.001"), ("priority", "0.004")])
async def test_a_tier_of_openai_that_is_not_listed_costs_its_usual_part_of_the_price(
    tier: str, dollars: str
) -> None:
    mine = ModelDescriptor(
        "openai", "m", ExecutionCapabilities(1_000_000), price=Price(Decimal(1), Decimal(10))
    )
    outcome = await outcome_of([mine], tiered("m", tier), model="m")
    assert outcome.cost_usd == Decimal(dollars)


async def test_a_price_that_was_written_down_counts_whatever_answers() -> None:
    mine = ModelDescriptor(
        "openai", "m", ExecutionCapabilities(1_000_000), price=Price(Decimal(1), Decimal(10))
    )
    outcome = await outcome_of([mine], answer("gpt-5-nano", USAGE), model="m")
    assert outcome.cost_usd == Decimal("0.002")


async def test_without_a_price_there_is_no_cost() -> None:
    assert (await outcome_of(["m"], answer("m", USAGE), model="m")).cost_usd is None


async def test_what_a_provider_did_not_count_is_estimated_and_priced_as_such() -> None:
    outcome = await outcome_of(["gpt-5-mini"], answer("gpt-5-mini", None), model="gpt-5-mini")
    assert outcome.usage is not None
    assert outcome.usage.estimated
    assert outcome.cost_usd is not None
    assert outcome.cost_usd > 0


@given(
    requested=st.integers(1, 10**7),
    window=st.integers(1, 10**7),
    output=st.integers(0, 10**6),
    expected=st.integers(0, 10**7),
)
def test_a_bound_of_the_output_is_never_raised_and_never_zero(
    requested: int, window: int, output: int, expected: int
) -> None:
    limit = clamp_max_tokens(requested, ExecutionCapabilities(window, output), expected)
    assert 1 <= limit <= requested
    assert not output or limit <= output
    assert limit == 1 or expected + limit < window


def module_with(window: int, server: Loopback, wire: type[ProviderModule]) -> ProviderModule:
    provider = "anthropic" if wire is AnthropicModule else "openai"
    model = ModelDescriptor(provider, "m", ExecutionCapabilities(window))
    if wire is AnthropicModule:
        return AnthropicModule([model], base_url=server.url, api_key_env=None)
    return OpenAICompatibleModule(server.url, [model])


@pytest.mark.parametrize("wire", [OpenAICompatibleModule, AnthropicModule])
@pytest.mark.parametrize(("words", "asked", "fits"), [(10, 500, True), (5_000, 9_000, False)])
async def test_a_request_asks_for_no_more_output_than_the_window_has_left(
    wire: type[ProviderModule], words: int, asked: int, fits: bool
) -> None:
    async with loopback(Answer(b"{}", 400, "application/json")) as server:
        module = module_with(WINDOW, server, wire)
        async with application(module).start() as runtime:
            [provider] = runtime.assembly.describe().modules[0].id.split(".")[-1:]
            config = ModelConfig(provider, "m", max_tokens=asked)
            said = request([message(1, Role.USER, "word " * words)], config=config)
            await collect(runtime.assembly[MODEL_EXECUTOR].execute(said, MemoryRecorder()))
    sent = server.requests[0].json()["max_tokens"]
    assert (sent == asked) is fits
    assert sent + words < WINDOW


async def test_a_bound_that_the_wire_asks_for_by_itself_fits_too() -> None:
    async with loopback(Answer(b"{}", 400, "application/json")) as server:
        module = module_with(WINDOW, server, AnthropicModule)
        async with application(module).start() as runtime:
            said = request([message(1, Role.USER, "hi")], config=ModelConfig("anthropic", "m"))
            await collect(runtime.assembly[MODEL_EXECUTOR].execute(said, MemoryRecorder()))
    assert server.requests[0].json()["max_tokens"] < WINDOW
