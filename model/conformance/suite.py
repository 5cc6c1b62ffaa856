"""The checks of the contract, and how to run them."""

from typing import cast

import anyio

from agentslot._conformance import ConformanceFailure
from agentslot.model.conformance import answers, attempts, cancellation, forms
from agentslot.model.conformance.scene import Check, OpenStage

CONTRACT = "model.executor/v1"

CHECKS: tuple[Check, ...] = (
    *answers.CHECKS,
    *forms.CHECKS,
    *attempts.CHECKS,
    *cancellation.CHECKS,
)
"""Checks that every executor passes; each opens stages of its own."""

_CHECK_SECONDS = 20


async def check_executor(open_stage: OpenStage) -> None:
    """Run all checks.

    Args:
        open_stage: opens an executor in front of a provider that plays the scenes given.

    Raises:
        ConformanceFailure: the first check that fails, and what was wrong.
    """
    for check in CHECKS:
        await run_check(check, open_stage)


async def run_check(check: Check, open_stage: OpenStage) -> None:
    """Run one check; whatever the executor raises against its contract fails it.

    Raises:
        ConformanceFailure: what was expected, and what happened.
    """
    name = getattr(check, "__name__", repr(check))
    try:
        with anyio.fail_after(_CHECK_SECONDS):
            await check(open_stage)
    except Exception as error:
        raise _failure(name, error) from error


def _failure(name: str, error: Exception) -> ConformanceFailure:
    """The failure that an exception is, or has among those that it groups."""
    if isinstance(error, ConformanceFailure):
        return error
    if isinstance(error, ExceptionGroup):
        return _failure(name, cast("ExceptionGroup[Exception]", error).exceptions[0])
    if isinstance(error, TimeoutError):
        return ConformanceFailure(name, f"it did not end within {_CHECK_SECONDS} seconds")
    return ConformanceFailure(name, f"the executor failed with {error!r}")
