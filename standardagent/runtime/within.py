"""A coroutine in a context of its own, without a task of its own."""

from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from types import coroutine
from typing import Any, TypeVar

R = TypeVar("R")


# Any: what a coroutine yields, and what it is sent, is between it and the event loop.
@coroutine
def within(context: Context, work: Coroutine[Any, Any, R]) -> Generator[Any, Any, R]:
    """Run `work` so that each of its steps sees and sets the variables of `context`."""
    step: Callable[[Any], Any] = work.send
    value: Any = None
    while True:
        try:
            waited_for = context.run(step, value)
        except StopIteration as end:
            result: R = end.value
            return result
        finally:
            value = None  # an error that was thrown in is not to hold itself through this frame
        try:
            step, value = work.send, (yield waited_for)
        except BaseException as error:  # noqa: BLE001 - it is the coroutine's to handle
            step, value = work.throw, error
