"""Names of files as they are shown to a model, and found again by what it writes.

A name may hold bytes that are no UTF-8, which no request can carry, control characters, which would
make two lines of it, or characters that are composed in another way than models write them, as
archives of some systems have them.
"""

import os
import re
from unicodedata import normalize

from agentslot._json import replace_lone_surrogates

_LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def shown(name: str) -> str:
    """The name, or path, on one line: with U+FFFD for controls and for what is no UTF-8."""
    if name.isprintable():
        return name
    return _CONTROLS.sub("\ufffd", replace_lone_surrogates(name))


def entry_meant(folder: int, name: str) -> str:
    """The only entry of an open folder that looks like `name`, if none has that very name."""
    if name.isascii() or _is_there(folder, name):
        return name
    alike = [each for each in _entries(folder) if _looks(each) == _looks(name)]
    return alike[0] if len(alike) == 1 else name


def _entries(folder: int) -> list[str]:
    """The names in a folder; none if it may be passed through and not listed."""
    try:
        descriptor = os.open(".", _LISTED, dir_fd=folder)
    except PermissionError:
        return []
    try:
        return os.listdir(descriptor)
    finally:
        os.close(descriptor)


def _is_there(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def _looks(name: str) -> str:
    return normalize("NFC", shown(name))
