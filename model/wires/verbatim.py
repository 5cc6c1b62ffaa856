"""Values of a JSON document in the document's own spelling.

Some providers send arguments as an object and not as text. They must go back as the model wrote
them, blanks, escapes and digits included, which reading and writing them anew would lose.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from json import JSONDecoder

_DECODER = JSONDecoder()
_BLANK = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class Verbatim:
    """One value of a document that was read before, and so is known to be JSON.

    Attributes:
        document: the whole document.
        start: where the value begins in it.
    """

    document: str
    start: int

    @classmethod
    def of(cls, data: bytes) -> "Verbatim":
        """The value that a whole document is."""
        document = data.decode()
        return cls(document, _skip_blank(document, 0))

    @property
    def text(self) -> str:
        """The value as it is spelled."""
        return self.document[self.start : self._end()]

    def member(self, *path: str) -> "Verbatim":
        """The value at the end of a path of member names.

        Raises:
            KeyError: it is not there.
        """
        found = self
        for name in path:
            members = dict(found._children()) if found._opens("{") else {}
            found = members[name]
        return found

    def elements(self) -> Iterator["Verbatim"]:
        """The elements of an array; none of anything else."""
        if self._opens("["):
            yield from (element for _, element in self._children())

    def objects(self) -> Iterator["Verbatim"]:
        """The elements of an array that are objects; see `as_objects`."""
        return (element for element in self.elements() if element._opens("{"))

    def _opens(self, bracket: str) -> bool:
        return self.document.startswith(bracket, self.start)

    def _end(self) -> int:
        return _DECODER.raw_decode(self.document, self.start)[1]

    def _children(self) -> Iterator[tuple[str, "Verbatim"]]:
        """Members with their names, or elements with an empty one."""
        document, named = self.document, self._opens("{")
        at = _skip_blank(document, self.start + 1)
        while document[at] not in "]}":
            name = ""
            if named:
                name, at = _DECODER.raw_decode(document, at)
                at = _skip_blank(document, _skip_blank(document, at) + 1)
            child = Verbatim(document, at)
            yield name, child
            at = _skip_blank(document, child._end())
            if document[at] == ",":
                at = _skip_blank(document, at + 1)


def _skip_blank(document: str, at: int) -> int:
    found = _BLANK.match(document, at)
    return at if found is None else found.end()
