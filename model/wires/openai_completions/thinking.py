"""Thinking: shown once, though servers send it under several names, and kept to be replayed.

`reasoning_content` (DeepSeek and many), `reasoning` (OpenRouter, Groq, vLLM), `reasoning_details`
(OpenRouter; the only one that can carry signatures and encrypted thoughts).
"""

from agentslot._json import dumps
from agentslot.model.wires.reading import JsonObject, as_objects, as_text

TEXT_FIELDS = ("reasoning_content", "reasoning")
DETAILS_FIELD = "reasoning_details"
FIELDS = frozenset({*TEXT_FIELDS, DETAILS_FIELD})

_GROWING = ("text", "summary", "data", "signature")


class ThinkingCollector:
    """Collects the thinking of one answer."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._details: list[_Detail] = []

    def add(self, delta: JsonObject) -> str:
        """Take one delta (or a whole message); returns the thinking it shows, each word once."""
        shown = ""
        for name in TEXT_FIELDS:
            if text := as_text(delta.get(name)):
                self._texts.setdefault(name, []).append(text)
                shown = shown or text
        details = as_objects(delta.get(DETAILS_FIELD))
        for detail in details:
            self._add_detail(detail)
        return shown or "".join(
            as_text(detail.get("text")) or as_text(detail.get("summary")) for detail in details
        )

    def _add_detail(self, detail: JsonObject) -> None:
        if self._details and self._details[-1].is_continued_by(detail):
            self._details[-1].grow(detail)
        else:
            self._details.append(_Detail(detail))

    def continuation(self) -> str | None:
        """What the server wants back with this message: one JSON object, or None."""
        replay: JsonObject = {}
        if self._details:
            replay[DETAILS_FIELD] = [detail.whole() for detail in self._details]
        else:
            for name, pieces in self._texts.items():
                replay[name] = "".join(pieces)
                break
        return dumps(replay) if replay else None


class _Detail:
    """One detail as its pieces arrive."""

    def __init__(self, first: JsonObject) -> None:
        self._members = dict(first)
        self._pieces: dict[str, list[str]] = {}

    def is_continued_by(self, detail: JsonObject) -> bool:
        """Whether a detail is the next piece of this one, not a new one."""
        mine = self._members
        return (
            detail.get("type") == mine.get("type") != "reasoning.encrypted"
            and detail.get("index") == mine.get("index")
            and (detail.get("id") in (None, mine.get("id")))
        )

    def grow(self, piece: JsonObject) -> None:
        """Put the next piece behind what is there."""
        for name, value in piece.items():
            held = self._members.get(name)
            if name in _GROWING and isinstance(held, str) and isinstance(value, str):
                self._pieces.setdefault(name, [held]).append(value)
            elif held is None or held == "":
                self._members[name] = value

    def whole(self) -> JsonObject:
        """The detail so far."""
        return {
            **self._members,
            **{name: "".join(pieces) for name, pieces in self._pieces.items()},
        }
