"""Where things were declared, so that an error can point at the line to change."""

import inspect
import sys
from dataclasses import dataclass
from functools import lru_cache
from types import FrameType


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


def user() -> Location:
    """Return the innermost line outside this library that led to the function calling this one."""
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]  # the standard way, as in logging
    while frame.f_back is not None and is_ours(frame):
        frame = frame.f_back
    return Location(frame.f_code.co_filename, frame.f_lineno)


def is_ours(frame: FrameType) -> bool:
    """Whether the code of a frame belongs to this library."""
    name: str = frame.f_globals.get("__name__") or ""
    return name.partition(".")[0] == "agentslot"


@lru_cache(maxsize=128)
def of_class(cls: type) -> str:
    """Return the name of a class and, where its source can be read, the line it begins at."""
    try:
        file = inspect.getsourcefile(cls)
        _, line = inspect.getsourcelines(cls)
    except (OSError, TypeError):
        return cls.__qualname__
    return f"{cls.__qualname__}, {file}:{line}"
