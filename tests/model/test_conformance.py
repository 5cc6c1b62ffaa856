"""The executor conforms over every wire, and the referee notices one that does not."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from agentslot.model import (
    ModelExecutor,
)
from agentslot.model.conformance import (
    CHECKS,
    CONTRACT,
    Check,
    ConformanceFailure,
    OpenStage,
    Scene,
    Stage,
    check_executor,
    run_check,
)
from tests.model.stages import VENDORS, stages
from tests.model.worse import BROKEN, Wrapped


@pytest.mark.parametrize("wire", VENDORS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_the_executor_conforms_over_every_wire(check: Check, wire: str) -> None:
    await run_check(check, stages(VENDORS[wire]))


async def test_the_suite_runs_all_its_checks() -> None:
    await check_executor(stages(VENDORS["openai-completions"]))
    assert CONTRACT == "model.executor/v1"
    assert len({check.__name__ for check in CHECKS}) == len(CHECKS)


def worse(kind: type[Wrapped]) -> OpenStage:
    good = stages(VENDORS["openai-completions"])

    @asynccontextmanager
    async def opened(*scenes: Scene) -> AsyncGenerator[Stage]:
        async with good(*scenes) as stage:
            executor: ModelExecutor = kind(stage.executor)  # type: ignore[assignment]  # it is worse
            yield Stage(executor, stage.config, stage.requests)

    return opened


@pytest.mark.parametrize(("kind", "check"), BROKEN)
async def test_the_referee_notices_a_broken_executor(kind: type[Wrapped], check: str) -> None:
    [chosen] = [each for each in CHECKS if each.__name__ == check]
    with pytest.raises(ConformanceFailure) as caught:
        await run_check(chosen, worse(kind))
    assert caught.value.check == check
    assert caught.value.detail


def test_every_check_has_a_broken_executor() -> None:
    assert {check.__name__ for check in CHECKS} == {check for _, check in BROKEN}
