"""What a Run cost, as its result tells it and as it is kept."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest

from agentslot import Module
from agentslot.interaction import InProcessChannel, RunResult, gateway_channel
from agentslot.model import (
    MODEL_EXECUTOR,
    TOKEN_COUNTER,
    Completion,
    ModelConfig,
    ModelError,
    ModelErrorCode,
    ModelRequest,
    TokenCount,
    TokenUsage,
)
from agentslot.model.testing import Script, ScriptedExecutor
from agentslot.session import FileStore, FileStoreModule, ModelAttempt, SessionId, TextPart
from agentslot.standardagent import new_application

ANSWER = Completion((TextPart("done"),))
PASSING = ModelError(ModelErrorCode.OVERLOADED, "busy", retryable=True)


class OneToken:
    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        return TokenCount(1)


async def run(
    folder: Path, scripts: Sequence[Script], *modules: Module
) -> tuple[RunResult, SessionId]:
    channel = InProcessChannel()
    application = new_application(
        "test",
        modules=[
            FileStoreModule(folder),
            Module(
                "test.model",
                MODEL_EXECUTOR.set(ScriptedExecutor(*scripts)),
                TOKEN_COUNTER.set(OneToken()),
            ),
            gateway_channel("test", channel),
            *modules,
        ],
        default_model=ModelConfig("p", "m"),
    )
    async with application.start():
        session = await channel.create_session(agent="a", workspace="w")
        return await session.send_and_wait("go"), session.id


async def test_a_result_sums_the_costs_of_all_attempts_exactly(tmp_path: Path) -> None:
    failed = Script(PASSING, cost_usd=Decimal("0.1"))
    result, _ = await run(tmp_path, [failed, Script(ANSWER, cost_usd=Decimal("0.20"))])
    assert result.cost_usd == Decimal("0.3")


@pytest.mark.parametrize("unpriced", [Script(PASSING), Script(PASSING, cost_usd=None)])
async def test_one_attempt_of_unknown_price_makes_the_whole_unknown(
    tmp_path: Path, unpriced: Script
) -> None:
    result, _ = await run(tmp_path, [unpriced, Script(ANSWER, cost_usd=Decimal("0.2"))])
    assert result.cost_usd is None


async def test_an_attempt_without_tokens_costs_nothing(tmp_path: Path) -> None:
    refused = Script(PASSING, usage=None)
    result, _ = await run(tmp_path, [refused, Script(ANSWER, cost_usd=Decimal("0.2"))])
    assert result.cost_usd == Decimal("0.2")


async def test_costs_are_kept_to_the_last_digit(tmp_path: Path) -> None:
    exact = Decimal("0.000000000123456789")
    _, session_id = await run(tmp_path, [Script(ANSWER, cost_usd=exact)])
    async with FileStore(tmp_path) as store:
        state = (await store.load(session_id)).state
    costs = [
        fact.payload.cost_usd for fact in state.history if isinstance(fact.payload, ModelAttempt)
    ]
    assert costs == [None, exact]


async def test_the_tier_that_served_a_run_stands_in_its_result(tmp_path: Path) -> None:
    flex = TokenUsage(input=10, output=5, total=15, service_tier="flex")
    result, _ = await run(tmp_path, [Script(ANSWER, usage=flex, cost_usd=Decimal("0.1"))])
    assert result.usage == flex
