"""Where things were declared, so that an error can point at the line to change."""

import inspect
import sys
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Location:
    """A line of source code."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def caller() -> Location | None:
    """Return the line that called the function calling this one.

    The frames of `typing` are passed over: `One[T]("id")` goes through them.
    """
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]  # the standard way, as in logging
    while frame.f_back is not None and frame.f_globals.get("__name__") == "typing":
        frame = frame.f_back
    return Location(frame.f_code.co_filename, frame.f_lineno)


def maker(made: object) -> Location | None:
    """Return the line that makes an object, from the `__init__` that calls this.

    Those of its subclasses, which have called that one, are passed over.
    """
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]  # the standard way, as in logging
    while frame.f_back is not None and frame.f_code.co_name == "__init__":
        if frame.f_locals.get("self") is not made:
            break
        frame = frame.f_back
    return Location(frame.f_code.co_filename, frame.f_lineno)


@lru_cache(maxsize=128)
def of_class(cls: type) -> str:
    """Return the name of a class and, where its source can be read, the line it begins at."""
    try:
        file = inspect.getsourcefile(cls)
        _, line = inspect.getsourcelines(cls)
    except (OSError, TypeError):
        return cls.__qualname__
    return f"{cls.__qualname__}, {file}:{line}"
