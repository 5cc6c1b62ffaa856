"""Tool schemas in the part of JSON Schema that the vendor reads.

What it does not read it refuses, or passes over. A constraint that cannot be said as such is said
in words, so that the model knows it all the same; arguments are checked against the whole schema
when they come.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from agentslot._json import JsonValue, dumps
from agentslot.model.wires.reading import JsonObject

_KEPT = frozenset(
    {
        *("$id", "$anchor", "$ref", "type", "format", "title", "description", "enum"),
        *("minItems", "maxItems", "minimum", "maximum", "required", "propertyOrdering"),
    }
)
_MAPS = frozenset({"properties", "$defs"})
_LISTS = frozenset({"prefixItems", "anyOf"})
_SINGLE = frozenset({"items", "additionalProperties"})
_IGNORED = frozenset({"$schema", "$comment", "default", "examples", "deprecated"})

Schema = Mapping[str, object]


def translate(schema: Schema) -> JsonObject:
    """Write a schema of JSON Schema 2020-12 in the vendor's dialect."""
    written: JsonObject = {}
    unsaid: JsonObject = {}
    for name, value in _renamed(schema).items():
        if name in _KEPT:
            written[name] = cast("JsonValue", value)
        elif name in _MAPS and isinstance(value, Mapping):
            members = cast("Mapping[str, object]", value)
            written[name] = {key: _translate(member) for key, member in members.items()}
        elif name in _LISTS and isinstance(value, Sequence):
            written[name] = [_translate(element) for element in cast("Sequence[object]", value)]
        elif name in _SINGLE:
            written[name] = _translate(value)
        elif name not in _IGNORED:
            unsaid[name] = cast("JsonValue", value)
    if unsaid:
        described = written.get("description")
        words = f"Must also satisfy {dumps(unsaid)}"
        written["description"] = f"{described}\n{words}" if described else words
    return written


def _renamed(schema: Schema) -> dict[str, object]:
    """The schema with what has another name in the dialect: `const`, `oneOf`, a lone `allOf`."""
    renamed = dict(schema)
    if "const" in renamed:
        renamed["enum"] = [renamed.pop("const")]
    if "oneOf" in renamed and "anyOf" not in renamed:
        renamed["anyOf"] = renamed.pop("oneOf")
    alternatives = renamed.get("allOf")
    if isinstance(alternatives, list) and len(cast("list[object]", alternatives)) == 1:
        [only] = cast("list[Schema]", renamed.pop("allOf"))
        renamed = {**only, **renamed}
    return renamed


def _translate(value: object) -> JsonValue:
    """A schema inside of a schema; it may be a plain true or false."""
    return translate(cast("Schema", value)) if isinstance(value, Mapping) else bool(value)
