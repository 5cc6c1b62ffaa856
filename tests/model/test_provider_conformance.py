"""Our provider conforms over every wire, and each check of the referee finds what it is for."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agentslot._conformance import ConformanceFailure
from agentslot.model import (
    AttemptRecorder,
    ExecutionCapabilities,
    ModelProvider,
    ModelRequest,
    ModelStream,
    TokenCount,
)
from agentslot.model.conformance import (
    MODEL_PROVIDER_SUITE,
    TOKEN_COUNTER_SUITE,
    OpenProvider,
    ProviderStage,
    Scene,
)
from agentslot.session import ModelConfig
from tests.model.stages import VENDORS, provider_stages
from tests.model.worse import BROKEN, Formless, Impatient, Obliging, Single, Wrapped

CHECKS = {check.__name__: check for check in MODEL_PROVIDER_SUITE.checks}
GOOD = provider_stages(VENDORS["openai-completions"])


@pytest.mark.parametrize("wire", VENDORS)
@pytest.mark.parametrize("check", CHECKS)
async def test_our_provider_conforms_over_every_wire(check: str, wire: str) -> None:
    await CHECKS[check](provider_stages(VENDORS[wire]))


class Provider:
    """A provider around a good one, to be made worse."""

    def __init__(self, stage: ProviderStage) -> None:
        self.stage = stage
        self.good = stage.provider

    def inspect(self, config: ModelConfig) -> ExecutionCapabilities:
        return self.good.inspect(config)

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        return self.good.execute(request, recorder)

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        return await self.good.count_tokens(request)

    async def fingerprint(self, request: ModelRequest) -> str:
        return await self.good.fingerprint(request)


def opening(make: Callable[[ProviderStage], Any]) -> OpenProvider:
    @asynccontextmanager
    async def opened(*scenes: Scene) -> AsyncGenerator[ProviderStage]:
        async with GOOD(*scenes) as stage:
            provider: ModelProvider = make(stage)
            sent = getattr(provider, "sent", stage.requests)
            yield ProviderStage(provider, stage.config, sent)

    return opened


async def test_a_provider_that_says_nothing_of_its_counting_conforms() -> None:
    await MODEL_PROVIDER_SUITE.check(opening(Provider))


class Executing(Provider):
    """Executes in some wrong way."""

    def __init__(self, stage: ProviderStage, kind: type[Wrapped]) -> None:
        super().__init__(stage)
        self.wrong: Any = kind(stage.provider)

    def inspect(self, config: ModelConfig) -> Any:
        return self.wrong.inspect(config)

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> Any:
        return self.wrong.execute(request, recorder)


OF_EXECUTORS = [
    *(row for row in BROKEN if row[0] not in (Formless, Obliging, Single)),
    (Impatient, "a_wanted_form_is_met_in_every_way_that_the_model_has"),
]
"""The way to a wanted form has been chosen when a request comes to a provider."""


@pytest.mark.parametrize(("kind", "check"), OF_EXECUTORS)
async def test_what_breaks_an_executor_breaks_a_provider(kind: type[Wrapped], check: str) -> None:
    with pytest.raises(ConformanceFailure) as caught:
        await CHECKS[check](opening(lambda stage: Executing(stage, kind)))
    assert caught.value.check == check


class Negative(Provider):
    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        return TokenCount(-1)


class Growing(Provider):
    counted = 0

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        self.counted += 1
        return TokenCount((await super().count_tokens(request)).tokens + self.counted)


class Constant(Provider):
    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        return TokenCount(1000)


class Restless(Provider):
    asked = 0

    async def fingerprint(self, request: ModelRequest) -> str:
        self.asked += 1
        return f"{await super().fingerprint(request)}-{self.asked}"


class Coarse(Provider):
    async def fingerprint(self, request: ModelRequest) -> str:
        return f"{request.system_prompt}{request.inputs[-1]}"


class Asking(Provider):
    """Asks a server for what it could know."""

    counts_offline = True
    asked = 0

    def sent(self) -> int:
        return self.stage.requests() + self.asked


class AskingForBytes(Asking):
    async def fingerprint(self, request: ModelRequest) -> str:
        self.asked += 1
        return await super().fingerprint(request)


class AskingForTokens(Asking):
    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        self.asked += 1
        return await super().count_tokens(request)


@pytest.mark.parametrize(
    ("make", "check", "said"),
    [
        (Negative, "every_request_has_a_number_of_tokens", "it counts -1 tokens"),
        (Growing, "the_same_request_has_the_same_number", "after it has counted"),
        (Constant, "nothing_of_a_request_is_left_out", "count as 0 tokens"),
        (Constant, "a_conversation_that_grows_never_counts_less", "2 messages count as 1000"),
        (Restless, "the_same_request_has_the_same_fingerprint", "after it was"),
        (Coarse, "another_request_has_another_fingerprint", "in an answer makes no other one"),
        (AskingForBytes, "a_fingerprint_sends_nothing", "1 requests were sent for it"),
        (AskingForTokens, "who_counts_offline_asks_no_server", "1 requests were sent to count"),
    ],
)
async def test_a_broken_provider_fails_the_check_that_is_for_it(
    make: Callable[[ProviderStage], Provider], check: str, said: str
) -> None:
    with pytest.raises(ConformanceFailure) as caught:
        await CHECKS[check](opening(make))
    assert caught.value.check == check
    assert said in caught.value.detail


def test_a_provider_passes_what_executors_and_counters_pass() -> None:
    counting = {check.__name__ for check in TOKEN_COUNTER_SUITE.checks}
    assert {check for _, check in OF_EXECUTORS} | counting < set(CHECKS)
    assert len(CHECKS) == len(MODEL_PROVIDER_SUITE.checks)
