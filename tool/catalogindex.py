"""Finding tools by words: an index over names, descriptions and arguments of a catalogue."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from agentslot.session import ToolDefinition

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_a-zA-Z]+")
_IN_NAME, _IN_DESCRIPTION, _IN_ARGUMENTS = 4.0, 1.0, 0.5
_LEAST_STEM = 3
_CUT = 1 / 3  # of the best score: what is worse only costs tokens


class CatalogIndex:
    """Tools by the words that describe them.

    Args:
        tools: the catalogue; of two equally good tools the one that stands first is found first.
    """

    def __init__(self, tools: Sequence[ToolDefinition]) -> None:
        self._tools = tools
        self._by_name = {tool.name: tool for tool in tools}
        self._weights = defaultdict[str, dict[int, float]](dict)
        for number, tool in enumerate(tools):
            for word, weight in _words_of(tool):
                known = self._weights[word].get(number, 0.0)
                self._weights[word][number] = max(known, weight)

    def find(self, query: str, limit: int) -> list[ToolDefinition]:
        """The tools that a query names; if it names none, those that it is about, the best first.

        Args:
            query: words in any order, or exact names.
            limit: most tools to return.
        """
        asked = dict.fromkeys(re.split(r"[\s,]+", query))
        if named := [self._by_name[name] for name in asked if name in self._by_name]:
            return named[:limit]
        scores = self._scores(query)
        order = sorted(scores, key=lambda number: (-scores[number], number))[:limit]
        return [self._tools[n] for n in order if scores[n] >= _CUT * scores[order[0]]]

    def _scores(self, query: str) -> Mapping[int, float]:
        scores = defaultdict[int, float](float)
        for asked in dict.fromkeys(_words(query)):
            found = defaultdict[int, float](float)
            for word, weights in self._weights.items():
                likeness = _likeness(asked, word)
                if likeness:
                    rarity = math.log(1 + len(self._tools) / len(weights))
                    for number, weight in weights.items():
                        found[number] = max(found[number], likeness * rarity * weight)
            for number, score in found.items():
                scores[number] += score
        return scores


def common_words(names: Iterable[str]) -> list[str]:
    """The words that names are made of, the most frequent ones first."""
    counted = Counter(word for name in names for word in set(_words(name)))
    return sorted(counted, key=lambda word: (-counted[word], word))


def _likeness(asked: str, word: str) -> float:
    if asked == word:
        return 1.0
    shorter, longer = sorted((asked, word), key=len)
    return 0.5 if len(shorter) >= _LEAST_STEM and longer.startswith(shorter) else 0.0


def _words_of(tool: ToolDefinition) -> Iterator[tuple[str, float]]:
    for word in _words(tool.name):
        yield word, _IN_NAME
    for word in _words(tool.description):
        yield word, _IN_DESCRIPTION
    properties = tool.input_schema.get("properties")
    for name in cast("Mapping[str, object]", properties) if isinstance(properties, dict) else ():
        for word in _words(name):
            yield word, _IN_ARGUMENTS


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
