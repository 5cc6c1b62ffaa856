"""Whether a function can wait for something."""

import dis
from collections.abc import Callable
from inspect import iscoroutinefunction
from types import FunctionType, MethodType


def never_waits(function: Callable[..., object]) -> bool:
    """Whether it is an async function without `await`, `async for` or `async with`.

    Calling it is over without the event loop. Of anything but a plain function nobody knows.
    """
    if isinstance(function, MethodType):
        function = function.__func__
    if not isinstance(function, FunctionType) or not iscoroutinefunction(function):
        return False
    # Each of the three is compiled to this, in every version; nothing else is.
    return not any(each.opname == "SEND" for each in dis.get_instructions(function))
