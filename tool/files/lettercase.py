"""Whether a disk tells upper from lower case."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

_TAKES_THEM_FOR_EACH_OTHER = ("win32", "cygwin", "darwin")

Identity = tuple[int, int]


def identity(path: Path) -> Identity | None:
    """Which file stands there, links not followed; None if nobody can tell."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def case_matters(
    folder: Path,
    *,
    names: Callable[[Path], list[str]] = os.listdir,
    identity: Callable[[Path], Identity | None] = identity,
    platform: str = sys.platform,
) -> bool:
    """Whether two spellings of a name that differ in case alone are two files in this folder.

    The disk is asked for a name that is there in its other case; nothing is written. Where that
    tells nothing, since the folder is not there or holds no name with letters, its parents are
    asked, and at last it is what the system usually does.
    """
    for place in (folder, *folder.parents):
        try:
            found = names(place)
        except OSError:
            continue
        taken = set(found)
        for name in found:
            other = name.swapcase()
            told = name.isascii() and other not in taken
            here = identity(place / name) if told else None
            if here is not None:
                return identity(place / other) != here
    return platform not in _TAKES_THEM_FOR_EACH_OTHER
