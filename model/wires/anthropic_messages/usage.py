"""Token figures, which arrive twice: at the start of an answer, and corrected at its end."""

from agentslot.model.wires.reading import JsonObject, as_count, as_object
from agentslot.model.wires.servicetier import served_tier
from agentslot.session import TokenUsage

_NAMES = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)


class UsageReader:
    """Collects figures: of each the last one given counts, and an absent one changes nothing."""

    def __init__(self) -> None:
        self._figures: dict[str, int] = {}
        self._tier = ""

    def read(self, usage: JsonObject) -> TokenUsage | None:
        """Take one `usage` object and return what all of them say; None if that is nothing.

        This protocol reports what was read fresh, from the cache and into the cache side by side,
        while our `input` is all of them.
        """
        details = as_object(usage.get("output_tokens_details"))
        given = {name: usage.get(name) for name in _NAMES}
        given["thinking_tokens"] = details.get("thinking_tokens")
        written_for = as_object(usage.get("cache_creation"))
        given["hour_tokens"] = written_for.get("ephemeral_1h_input_tokens")
        for name, value in given.items():
            if (count := as_count(value)) is not None:
                self._figures[name] = count
        self._tier = served_tier(usage.get("service_tier")) or self._tier
        if not self._figures:
            return None
        fresh, cached, written, output = (self._figures.get(name, 0) for name in _NAMES)
        return TokenUsage(
            input=fresh + cached + written,
            output=output,
            cached_input=cached,
            cache_write=written,
            reasoning=min(self._figures.get("thinking_tokens", 0), output),
            total=fresh + cached + written + output,
            cache_write_1h=min(self._figures.get("hour_tokens", 0), written),
            service_tier=self._tier,
        )
