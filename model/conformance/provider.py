"""The referee of `model.provider/v1`: a provider behind the executor that everybody uses.

```python
from agentslot.model.conformance import MODEL_PROVIDER_SUITE, ProviderStage, Scene

@asynccontextmanager
async def opened(*scenes: Scene):
    async with my_server_that_plays(scenes) as server:
        config = ModelConfig("mine", "my-model")
        yield ProviderStage(MyProvider(server.url), config, server.count_requests)

async def test_mine_is_a_model_provider() -> None:
    await MODEL_PROVIDER_SUITE.check(opened)
```

A provider is an executor and a counter of tokens, so it passes what these pass. That a form of the
answer is asked for in a way that the model has is none of its business.
"""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

from agentslot._conformance import Suite, check, demand
from agentslot.model.conformance import suite
from agentslot.model.conformance.counting import (
    TOKEN_COUNTER_SUITE,
    Counting,
    OpenCounting,
    each_part_longer,
    whole_request,
)
from agentslot.model.conformance.forms import a_way_that_the_model_does_not_have_is_refused
from agentslot.model.conformance.scene import Check, Scene, Stage
from agentslot.model.executor import ProviderExecutor
from agentslot.model.extension import ModelProvider
from agentslot.session import ModelConfig


@dataclass(frozen=True, slots=True)
class ProviderStage:
    """A provider in front of a server that plays scenes.

    Attributes:
        config: selects a model of the provider; it names the provider's key.
        requests: how many requests the server has received, those that only count included. What
            it answers these is not part of a scene.
    """

    provider: ModelProvider
    config: ModelConfig
    requests: Callable[[], int]

    @property
    def executor(self) -> ProviderExecutor:
        """The executor that everybody uses, with this provider alone."""
        return ProviderExecutor({self.config.provider: self.provider})


OpenProvider = Callable[..., AbstractAsyncContextManager[ProviderStage]]
"""Takes `*scenes: Scene`; what it returns is entered once, and left when the check is over."""

_Judge = Callable[[OpenProvider], Coroutine[Any, Any, None]]


def _as_executor(judge: Check) -> _Judge:
    """What an executor does, a provider does behind the one that everybody uses."""

    @wraps(judge)
    async def run(open_provider: OpenProvider) -> None:
        @asynccontextmanager
        async def opened(*scenes: Scene) -> AsyncGenerator[Stage]:
            async with open_provider(*scenes) as stage:
                yield Stage(stage.executor, stage.config, stage.requests)

        await suite.run_check(judge, opened)

    return run


def _as_counter(judge: Callable[[OpenCounting], Coroutine[Any, Any, None]]) -> _Judge:
    """What a counter of tokens does, a provider does."""

    @wraps(judge)
    async def run(open_provider: OpenProvider) -> None:
        @asynccontextmanager
        async def opened() -> AsyncGenerator[Counting]:
            async with open_provider(Scene.ANSWER) as stage:
                yield Counting(stage.executor, stage.config)

        await judge(opened)

    return run


@check
async def the_same_request_has_the_same_fingerprint(open_provider: OpenProvider) -> None:
    """Whatever was asked in between: an answer that is remembered is found by it."""
    async with open_provider(Scene.ANSWER) as stage:
        plain = whole_request(stage.config)
        known = await stage.provider.fingerprint(plain)
        for other in each_part_longer(plain).values():
            await stage.provider.fingerprint(other)
        again = await stage.provider.fingerprint(whole_request(stage.config))
        demand(known == again, f"it is {again!r} after it was {known!r}")


@check
async def another_request_has_another_fingerprint(open_provider: OpenProvider) -> None:
    """Whichever of its parts differs: it would get the answer to something else."""
    async with open_provider(Scene.ANSWER) as stage:
        plain = whole_request(stage.config)
        known = {await stage.provider.fingerprint(plain)}
        for what, other in each_part_longer(plain).items():
            fingerprint = await stage.provider.fingerprint(other)
            demand(fingerprint not in known, f"another text in {what} makes no other one")
            known.add(fingerprint)


@check
async def a_fingerprint_sends_nothing(open_provider: OpenProvider) -> None:
    """It is of what would be sent."""
    async with open_provider(Scene.ANSWER) as stage:
        await stage.provider.fingerprint(whole_request(stage.config))
        demand(stage.requests() == 0, f"{stage.requests()} requests were sent for it")


@check
async def who_counts_offline_asks_no_server(open_provider: OpenProvider) -> None:
    """One with a true `counts_offline` gets no deadline when it counts."""
    async with open_provider(Scene.ANSWER) as stage:
        if getattr(stage.provider, "counts_offline", False):
            await stage.provider.count_tokens(whole_request(stage.config))
            demand(stage.requests() == 0, f"{stage.requests()} requests were sent to count")


_OF_EXECUTORS = tuple(
    each for each in suite.CHECKS if each is not a_way_that_the_model_does_not_have_is_refused
)

MODEL_PROVIDER_SUITE: Suite[OpenProvider] = Suite(
    "model.provider/v1",
    (
        *map(_as_executor, _OF_EXECUTORS),
        *map(_as_counter, TOKEN_COUNTER_SUITE.checks),
        the_same_request_has_the_same_fingerprint,
        another_request_has_another_fingerprint,
        a_fingerprint_sends_nothing,
        who_counts_offline_asks_no_server,
    ),
)
