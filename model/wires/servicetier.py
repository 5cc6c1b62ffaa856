"""The tier by which a provider has served an answer, which may be another than was asked for."""

from functools import lru_cache

from agentslot._json import JsonValue
from agentslot.model.wires.reading import as_text
from agentslot.session import safe_line

_ORDINARY = frozenset({"auto", "default", "standard", "on_demand", "traffic_type_unspecified"})


def served_tier(value: JsonValue) -> str:
    """The provider's word for it in lower case; empty for the ordinary tier, or none."""
    return _tier(as_text(value))


@lru_cache(maxsize=64)
def _tier(word: str) -> str:
    plain = word.lower().removeprefix("on_demand_")
    return "" if plain in _ORDINARY else safe_line(plain, 64)
