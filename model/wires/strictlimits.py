"""What OpenAI refuses in a strict schema though every part of it is allowed.

The figures are those of its guide to structured outputs. That alternatives must differ in their
first member stands in its answers alone: "Objects provided via 'anyOf' must not share identical
first keys". Such as have different constants there are told apart.
"""

from itertools import combinations

from agentslot._json import JsonValue
from agentslot.model.wires.reading import JsonObject, as_array, as_object, as_objects, as_text
from agentslot.model.wires.schematree import nodes, resolved

_MAX_MEMBERS = 5000
_MAX_LEVELS = 10
_MAX_CHARACTERS = 120_000
_MAX_ENUM_VALUES = 1000
_LONG_ENUM_VALUES = 250
_MAX_LONG_ENUM_CHARACTERS = 15_000


def is_within_limits(schema: JsonObject) -> bool:
    """Whether a schema, which never contains itself, is small and its alternatives differ."""
    definitions = as_object(schema.get("$defs"))
    return (
        _has_few_names(schema, definitions)
        and _has_few_values(schema)
        and _levels(schema, definitions, {}) <= _MAX_LEVELS
        and all(_differ(node, definitions) for node in nodes(schema))
    )


def _has_few_names(schema: JsonObject, definitions: JsonObject) -> bool:
    members = [name for node in nodes(schema) for name in as_object(node.get("properties"))]
    values = [value for node in nodes(schema) for value in _constants(node)]
    return (
        len(members) <= _MAX_MEMBERS
        and _characters([*members, *definitions, *values]) <= _MAX_CHARACTERS
    )


def _has_few_values(schema: JsonObject) -> bool:
    enums = [as_array(node.get("enum")) for node in nodes(schema)]
    return sum(map(len, enums)) <= _MAX_ENUM_VALUES and all(
        len(enum) <= _LONG_ENUM_VALUES or _characters(enum) <= _MAX_LONG_ENUM_CHARACTERS
        for enum in enums
    )


def _characters(values: list[JsonValue]) -> int:
    return sum(len(as_text(value)) for value in values)


def _levels(node: JsonObject, definitions: JsonObject, known: dict[int, int]) -> int:
    """How many objects lie inside each other at most; `known` has what was asked before."""
    node = resolved(node, definitions)
    if id(node) not in known:
        inner = as_objects(node.get("anyOf")) + as_objects([node.get("items")])
        inner += map(as_object, as_object(node.get("properties")).values())
        deepest = max((_levels(each, definitions, known) for each in inner), default=0)
        known[id(node)] = deepest + (node.get("type") == "object")
    return known[id(node)]


def _differ(node: JsonObject, definitions: JsonObject) -> bool:
    """Whether the first member that the model writes tells which of several objects it writes."""
    options = [resolved(option, definitions) for option in as_objects(node.get("anyOf"))]
    members = [as_object(option["properties"]) for option in options if "properties" in option]
    return not any(_begin_alike(one, other) for one, other in combinations(members, 2))


def _begin_alike(one: JsonObject, other: JsonObject) -> bool:
    first = next(iter(one), None)
    if first != next(iter(other), None):
        return False
    if first is None:
        return True
    values, others = _constants(as_object(one[first])), _constants(as_object(other[first]))
    return not values or not others or any(value in others for value in values)


def _constants(node: JsonObject) -> list[JsonValue]:
    return [node["const"]] if "const" in node else as_array(node.get("enum"))
