"""Comparing the names of a folder with many wildcards at once.

Most wildcards are a plain name or an ending. Those need no regular expression, and looking at all
names of a folder for one kind after the other is much faster than at one name for all.
"""

import re
from collections.abc import Callable, Collection, Iterable

from agentslot.tool.files.wildcard import Wildcard


class NameTest:
    """Finds the names that match any of some wildcards; their folders are not looked at."""

    __slots__ = ("_endings", "_exact", "_matches")

    def __init__(self, wildcards: Iterable[Wildcard]) -> None:
        exact: set[str] = set()
        endings: list[str] = []
        others: list[str] = []
        for wildcard in wildcards:
            if wildcard.exact is not None:
                exact.add(wildcard.exact)
            elif wildcard.ending is not None:
                endings.append(wildcard.ending)
            else:
                others.append(wildcard.name)
        self._exact = frozenset(exact)
        self._endings = tuple(endings)
        self._matches = full_match(others)

    def among(self, names: Collection[str]) -> set[str]:
        """Those of `names` that match."""
        found = set(self._exact.intersection(names)) if self._exact else set[str]()
        if self._endings:
            found.update([name for name in names if name.endswith(self._endings)])
        if self._matches is not None:
            found.update([name for name in names if self._matches(name)])
        return found


def full_match(regexes: Collection[str]) -> Callable[[str], object] | None:
    """A test for texts that match one of `regexes` from end to end; None if there are none."""
    return re.compile("|".join(regexes), re.DOTALL).fullmatch if regexes else None
