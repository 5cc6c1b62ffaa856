"""Conformance suites: what a check is and how it fails, the same for every contract."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import wraps
from typing import Any, Generic, ParamSpec, TypeVar, cast

import anyio

from agentslot._errors import AgentSlotError

P = ParamSpec("P")
S = TypeVar("S")

CHECK_SECONDS = 20.0
"""Longest time that a check may take."""


class ConformanceFailure(AgentSlotError):  # noqa: N818  # the name that the specification gives it
    """A component does not do what its contract says.

    Attributes:
        check: name of the check that failed.
        detail: what was expected, and what happened.
    """

    def __init__(self, check: str, detail: str) -> None:
        super().__init__(f"{check}: {detail}")
        self.check = check
        self.detail = detail


def expect(check: str, holds: bool, detail: str) -> None:  # reads like an assertion
    """Fail the check with `detail` if it does not hold."""
    if not holds:
        raise ConformanceFailure(check, detail)


async def run_check(
    component: str, check: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs
) -> None:
    """Run one check; whatever the component raises against its contract fails it.

    Args:
        component: what it is called in the failure, such as "the store".
        check: the check.
        *args: what the check takes.
        **kwargs: likewise.

    Raises:
        ConformanceFailure: what was expected, and what happened.
    """
    try:
        await check(*args, **kwargs)
    except ConformanceFailure:
        raise
    except Exception as error:
        name = getattr(check, "__name__", repr(check))
        raise ConformanceFailure(name, f"{component} failed with {error!r}") from error


@dataclass(frozen=True, slots=True)
class Suite(Generic[S]):
    """The referee of one contract.

    Attributes:
        contract: name and version of what is checked.
        checks: plain async functions of a subject; each raises a ConformanceFailure if the subject
            does not do what the contract says. Any of them can be run alone.
    """

    contract: str
    checks: tuple[Callable[[S], Coroutine[Any, Any, None]], ...]

    async def check(self, subject: S) -> None:
        """Run all checks, one after the other.

        Raises:
            ConformanceFailure: the first check that fails, and what was wrong.
        """
        for check in self.checks:
            await check(subject)


class Broken(AgentSlotError):  # noqa: N818 - what a check says of a component
    """A rule of the contract is broken; becomes the failure of the check that noticed it."""


def demand(holds: bool, rule: str) -> None:  # reads like an assertion
    """Fail the check that is running if the rule does not hold."""
    if not holds:
        raise Broken(rule)


def check(judge: Callable[[S], Awaitable[None]]) -> Callable[[S], Coroutine[Any, Any, None]]:
    """Make a check of a function, under its name: whatever it raises fails the check."""
    name = getattr(judge, "__name__", repr(judge))

    @wraps(judge)
    async def run(subject: S) -> None:
        try:
            with anyio.move_on_after(CHECK_SECONDS) as limit:
                await judge(subject)
        except Exception as error:
            raise ConformanceFailure(name, _detail(error)) from error
        expect(name, not limit.cancelled_caught, f"it did not end within {CHECK_SECONDS:g} seconds")

    return run


def _detail(error: Exception) -> str:
    if isinstance(error, ExceptionGroup):
        errors = cast("ExceptionGroup[Exception]", error).exceptions
        told = next(
            (each for each in errors if isinstance(each, Broken | ConformanceFailure)), errors[0]
        )
        return _detail(told)
    if isinstance(error, ConformanceFailure):
        return error.detail
    if isinstance(error, Broken):
        return str(error)
    if isinstance(error, AgentSlotError):  # written for people
        return f"it failed: {error}"
    return f"it failed with {error!r}"
