"""Thinking: shown once, though servers send it under several names, and kept to be replayed.

`reasoning_content` (DeepSeek and many), `reasoning` (OpenRouter, Groq, vLLM), `reasoning_details`
(OpenRouter; the only one that can carry signatures and encrypted thoughts).
"""

from agentslot._json import JsonValue, dumps
from agentslot.model.wires.reading import JsonObject, as_objects, as_text

TEXT_FIELDS = ("reasoning_content", "reasoning")
DETAILS_FIELD = "reasoning_details"
FIELDS = frozenset({*TEXT_FIELDS, DETAILS_FIELD})

_GROWING = ("text", "summary", "data", "signature")


class ThinkingCollector:
    """Collects the thinking of one answer."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._details: list[JsonObject] = []

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
        last = self._details[-1] if self._details else None
        if last is None or not _continues(last, detail):
            self._details.append(dict(detail))
            return
        for name, value in detail.items():
            held = last.get(name)
            if name in _GROWING and isinstance(held, str) and isinstance(value, str):
                last[name] = held + value
            elif held is None or held == "":
                last[name] = value

    def continuation(self) -> str | None:
        """What the server wants back with this message: one JSON object, or None."""
        replay: JsonObject = {}
        if self._details:
            replay[DETAILS_FIELD] = list[JsonValue](self._details)
        else:
            for name, pieces in self._texts.items():
                replay[name] = "".join(pieces)
                break
        return dumps(replay) if replay else None


def _continues(last: JsonObject, detail: JsonObject) -> bool:
    """Whether a detail is the next piece of the one before it, not a new one."""
    return (
        detail.get("type") == last.get("type") != "reasoning.encrypted"
        and detail.get("index") == last.get("index")
        and (detail.get("id") in (None, last.get("id")))
    )
