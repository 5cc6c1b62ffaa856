"""Reading members of foreign JSON whose type nobody guarantees: the wrong type counts as absent."""

from agentslot._json import JsonValue

JsonObject = dict[str, JsonValue]


def as_object(value: JsonValue) -> JsonObject:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_array(value: JsonValue) -> list[JsonValue]:
    """The array, or an empty one."""
    return value if isinstance(value, list) else []


def as_objects(value: JsonValue) -> list[JsonObject]:
    """The objects in an array, or none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def first_object(value: JsonValue) -> JsonObject | None:
    """The first object in an array, if there is one."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                return item
    return None


def as_text(value: JsonValue) -> str:
    """The string, or an empty one."""
    return value if isinstance(value, str) else ""


def as_count(value: JsonValue) -> int | None:
    """The integer that is not negative; an integral float is one too."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value >= 0 and value == int(value) else None
