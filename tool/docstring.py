"""What a docstring says of a function and of its parameters: Google, NumPy or Sphinx style."""

import inspect
import re
from dataclasses import dataclass, field

_PARAMETERS = frozenset({"args", "arguments", "parameters", "params", "other parameters"})
_SECTIONS = _PARAMETERS | {
    "attributes", "example", "examples", "note", "notes", "raises", "references", "returns",
    "see also", "warns", "warnings", "yields",
}  # fmt: skip
_UNDERLINE = re.compile(r"\s*-{3,}\s*")
_SPHINX = re.compile(r":(?:param|parameter|arg|argument)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)")
_SPHINX_OTHER = re.compile(r":(?:type|return|returns|rtype|raise|raises)\b[^:]*:")
_GOOGLE = re.compile(r"\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:\s*(.*)")
_NUMPY = re.compile(r"\*{0,2}(\w+(?:\s*,\s*\w+)*)\s*(?::.*)?")


@dataclass(frozen=True, slots=True)
class Docstring:
    """The text before the first section, and a description for each documented parameter."""

    text: str = ""
    parameters: dict[str, str] = field(default_factory=dict[str, str])


def parse_docstring(docstring: str | None) -> Docstring:
    """Split a docstring; what is in no known style is left in the text."""
    if not docstring:
        return Docstring()
    lines = inspect.cleandoc(docstring).split("\n")
    text: list[str] = []
    parameters: dict[str, str] = {}
    position = 0
    while position < len(lines):
        section = _section_at(lines, position)
        if section is not None:
            name, numpy = section
            body = _body(lines, position + 1 + numpy, numpy)
            if name in _PARAMETERS:
                parameters |= _numpy_entries(body) if numpy else _google_entries(body)
            position += 1 + numpy + len(body)
        elif match := _SPHINX.fullmatch(lines[position]):
            parameters[match[1]], position = _continued(lines, position, match[2])
        elif _SPHINX_OTHER.match(lines[position]):
            _, position = _continued(lines, position, "")
        else:
            text.append(lines[position])
            position += 1
    return Docstring("\n".join(text).strip(), parameters)


def _section_at(lines: list[str], position: int) -> tuple[str, bool] | None:
    """Name of the section that starts here and whether it is underlined as NumPy does it."""
    line = lines[position]
    title = line.strip().lower()
    underlined = position + 1 < len(lines) and _UNDERLINE.fullmatch(lines[position + 1])
    if underlined and title in _SECTIONS:
        return title, True
    if title.endswith(":") and title[:-1] in _SECTIONS and not line.startswith(" "):
        return title[:-1], False
    return None


def _body(lines: list[str], start: int, numpy: bool) -> list[str]:
    """Lines of a section: as far as they are indented, or up to the next section (NumPy)."""
    stop = start
    while stop < len(lines) and _section_at(lines, stop) is None:
        if not numpy and lines[stop].strip() and not lines[stop].startswith(" "):
            break
        stop += 1
    return lines[start:stop]


def _google_entries(body: list[str]) -> dict[str, str]:
    block = inspect.cleandoc("\n".join(["", *body])).split("\n")
    return _entries(block, _GOOGLE)


def _numpy_entries(body: list[str]) -> dict[str, str]:
    return _entries(body, _NUMPY)


def _entries(lines: list[str], head: re.Pattern[str]) -> dict[str, str]:
    """Entries that start at the margin; their indented lines are joined into one description."""
    found: dict[str, str] = {}
    position = 0
    while position < len(lines):
        match = head.fullmatch(lines[position]) if lines[position].strip() else None
        if match is None:
            position += 1
            continue
        first = match[2] if head.groups > 1 else ""
        description, position = _continued(lines, position, first)
        for name in match[1].split(","):
            found[name.strip()] = description
    return found


def _continued(lines: list[str], position: int, first: str) -> tuple[str, int]:
    """Join `first` with the indented lines after `position`; also the position behind them."""
    words = [first.strip()]
    position += 1
    while position < len(lines) and lines[position].startswith(" "):
        words.append(lines[position].strip())
        position += 1
    return " ".join(filter(None, words)), position
