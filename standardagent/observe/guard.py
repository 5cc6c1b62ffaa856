"""Calling observers so that nothing they do reaches the caller."""

import logging
import math
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
import anyio.lowlevel

from agentslot._failures import is_failure

T = TypeVar("T")

log = logging.getLogger(__name__)


class Guard:
    """Calls observers; a failure is logged, the first one of each observer only.

    Args:
        seconds: how long a call may take before it is cancelled; None for as long as it likes.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._seconds = seconds
        self._reported: set[int] = set()

    async def call(
        self, observer: object, observe: Callable[[T], Awaitable[None]], value: T
    ) -> None:
        """Await `observe(value)`, a method of `observer`, and return whatever it does."""
        try:
            with anyio.move_on_after(self._seconds) as scope:
                await observe(value)
                await anyio.lowlevel.checkpoint()  # where a cancellation that it left behind ends
        except anyio.get_cancelled_exc_class() as error:
            if anyio.current_effective_deadline() == -math.inf:
                raise
            self._report(observer, "cancelled itself", error)
        except BaseException as error:
            if not is_failure(error):
                raise
            self._report(observer, "failed", error)
        else:
            if scope.cancelled_caught:
                self._report(observer, f"took longer than {self._seconds:g} seconds", None)

    def _report(self, observer: object, what: str, error: BaseException | None) -> None:
        if id(observer) not in self._reported:
            self._reported.add(id(observer))
            name = type(observer).__qualname__
            log.error(
                "observer %s %s; only its first failure is logged", name, what, exc_info=error
            )
