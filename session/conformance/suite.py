"""The checks of the contract, and how to run them."""

from collections.abc import Callable

from agentslot import _conformance
from agentslot.session.conformance import commits, lifecycle, listings, sidebyside, texts
from agentslot.session.conformance.check import Check, OpenStore

CONTRACT = "session.store/v2"

CHECKS: tuple[Check, ...] = (
    *lifecycle.CHECKS,
    *commits.CHECKS,
    *texts.CHECKS,
    *listings.CHECKS,
    *sidebyside.CHECKS,
)
"""Checks that every store passes; each takes a way to open a store on storage of its own."""

DURABILITY_CHECKS: tuple[Check, ...] = (
    *lifecycle.DURABILITY_CHECKS,
    *sidebyside.DURABILITY_CHECKS,
)
"""Checks of stores that outlive their process."""


async def check_store(fresh: Callable[[], OpenStore], *, volatile: bool = False) -> None:
    """Run all checks, each on fresh storage.

    Args:
        fresh: makes storage and returns how to open the store on it.
        volatile: the store forgets everything when it is closed; durability is not checked.

    Raises:
        ConformanceFailure: the first check that fails, and what was wrong.
    """
    for check in CHECKS if volatile else (*CHECKS, *DURABILITY_CHECKS):
        await run_check(check, fresh())


async def run_check(check: Check, open_store: OpenStore) -> None:
    """Run one check; whatever the store raises against its contract fails it.

    Raises:
        ConformanceFailure: what was expected, and what happened.
    """
    await _conformance.run_check("the store", check, open_store)
