"""What a suite says of a component: which of its checks fail."""

from typing import TypeVar

from agentslot._conformance import ConformanceFailure, Suite

S = TypeVar("S")


async def broken_rules(suite: Suite[S], subject: S) -> dict[str, str]:
    """The checks that fail, with their details."""
    found: dict[str, str] = {}
    for check in suite.checks:
        try:
            await check(subject)
        except ConformanceFailure as failure:
            found[failure.check] = failure.detail
    return found
