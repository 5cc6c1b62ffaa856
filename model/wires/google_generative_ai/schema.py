"""Tool schemas in the part of JSON Schema that the vendor reads.

What it does not read it refuses, or passes over. A constraint that cannot be said as such is said
in words, so that the model knows it all the same; arguments are checked against the whole schema
when they come.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import cast

from agentslot._json import JsonValue, dumps
from agentslot.model.wires.reading import JsonObject

_KEPT = frozenset(
    {
        *("$id", "$anchor", "$ref", "type", "format", "title", "description", "enum"),
        *("minItems", "maxItems", "minimum", "maximum", "required", "propertyOrdering"),
    }
)
_LISTS = frozenset({"prefixItems", "anyOf"})
_IGNORED = frozenset({"$schema", "$comment", "default", "examples", "deprecated"})
_ROOT, _DEFINITIONS, _OLD_DEFINITIONS = "#", "#/$defs/", "#/definitions/"

Schema = Mapping[str, object]


def translate(schema: Schema) -> JsonObject:
    """Write a schema of JSON Schema 2020-12 in the vendor's dialect."""
    return _Translator(_reach(schema), _ROOT).write(schema)


class _Translator:
    """Writes one definition.

    The vendor unrolls a definition that contains itself a few times, so that it must not require
    what leads back to it.
    """

    def __init__(self, reach: Mapping[str, Set[str]], inside: str) -> None:
        """Take which definitions lead to which, and the reference of the one that is written."""
        self._reach = reach
        self._inside = inside

    def write(self, schema: Schema) -> JsonObject:
        """Write a schema that is an object."""
        written: JsonObject = {}
        unsaid: JsonObject = {}
        for name, value in self._renamed(schema).items():
            if name in _KEPT:
                written[name] = cast("JsonValue", value)
            elif name == "properties" and isinstance(value, Mapping):
                members = cast("Schema", value)
                written[name] = {key: self._write(member) for key, member in members.items()}
            elif name == "$defs" and isinstance(value, Mapping):
                members = cast("Schema", value)
                written[name] = {key: self._define(key, member) for key, member in members.items()}
            elif name in _LISTS and isinstance(value, Sequence):
                written[name] = [self._write(element) for element in cast("list[object]", value)]
            elif name == "items" and value is not False:
                written[name] = self._write(value)
            elif name == "additionalProperties":
                written[name] = value if isinstance(value, bool) else self._write(value)
            elif name not in _IGNORED:
                unsaid[name] = cast("JsonValue", value)
        return _with_words(written, unsaid)

    def _define(self, name: str, value: object) -> JsonObject:
        return _Translator(self._reach, _DEFINITIONS + name)._write(value)

    def _write(self, value: object) -> JsonObject:
        """A schema inside of a schema; it may be a plain true or false."""
        if isinstance(value, Mapping):
            return self.write(cast("Schema", value))
        return {} if value else {"description": "No value fits here."}

    def _renamed(self, schema: Schema) -> dict[str, object]:
        """The schema with what the dialect says in another way."""
        renamed = _with_types(schema)
        if "oneOf" in renamed and "anyOf" not in renamed:
            renamed["anyOf"] = renamed.pop("oneOf")
        if isinstance(renamed.get("items"), list):
            renamed["prefixItems"] = renamed.pop("items")
        if "definitions" in renamed:
            old, new = (cast("Schema", renamed.get(n, {})) for n in ("definitions", "$defs"))
            renamed["$defs"] = {**old, **new}
            del renamed["definitions"]
        alternatives = renamed.get("allOf")
        if isinstance(alternatives, list) and len(cast("list[object]", alternatives)) == 1:
            [only] = cast("list[Schema]", renamed.pop("allOf"))
            renamed = {**only, **renamed}
        self._loosen(renamed)
        return _with_lone_reference(renamed)

    def _loosen(self, schema: dict[str, object]) -> None:
        """Require no member that leads back to the definition that it stands in."""
        required, properties = schema.get("required"), schema.get("properties")
        endless = self._inside in self._reach.get(self._inside, ())
        if endless and isinstance(required, list) and isinstance(properties, Mapping):
            members = cast("Schema", properties)
            names = cast("list[str]", required)
            schema["required"] = [name for name in names if not self._returns(members.get(name))]

    def _returns(self, member: object) -> bool:
        found = _references(member)
        return any(r == self._inside or self._inside in self._reach.get(r, ()) for r in found)


def _with_words(written: JsonObject, unsaid: JsonObject) -> JsonObject:
    """The schema with what cannot be said in it behind its description."""
    if not unsaid:
        return written
    words = f"Must also satisfy {dumps(unsaid)}"
    if "$ref" in written:  # nothing may stand beside a reference
        written = {"anyOf": [written]}
    described = written.get("description")
    return {**written, "description": f"{described}\n{words}" if described else words}


def _with_types(schema: Schema) -> dict[str, object]:
    """The schema with a type or an `enum` for what is null or the same always."""
    typed = dict(schema)
    match typed.get("const", ...):
        case None:
            del typed["const"]
            typed["type"] = "null"
        case bool():
            typed["type"] = "boolean"  # the value is said in words
        case str() | int() | float() as value:
            del typed["const"]
            typed["enum"] = [value]
        case _:
            pass
    kind = typed.get("type")
    if typed.get("nullable") is True and isinstance(kind, str):
        del typed["nullable"]
        typed["type"] = [kind, "null"]
    return typed


def _with_lone_reference(schema: dict[str, object]) -> dict[str, object]:
    """The schema with a reference that has nothing beside it, as the vendor wants it."""
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return schema
    lone = {"$ref": _in_definitions(reference)}
    beside = {n: v for n, v in schema.items() if n != "$ref" and n not in _IGNORED}
    if all(name.startswith("$") for name in beside):
        return {**beside, **lone}
    if alternatives := beside.pop("anyOf", None):
        beside["allOf"] = [{"anyOf": alternatives}]
    return {**beside, "anyOf": [lone]}


def _in_definitions(reference: str) -> str:
    if not reference.startswith(_OLD_DEFINITIONS):
        return reference
    return _DEFINITIONS + reference.removeprefix(_OLD_DEFINITIONS)


def _references(value: object) -> Iterator[str]:
    """All references in a value, by the names that the dialect has for them."""
    if isinstance(value, Mapping):
        members = cast("Schema", value)
        reference = members.get("$ref")
        if isinstance(reference, str):
            yield _in_definitions(reference)
        for member in members.values():
            yield from _references(member)
    elif isinstance(value, list):
        for element in cast("list[object]", value):
            yield from _references(element)


def _reach(root: Schema) -> Mapping[str, Set[str]]:
    """For each definition, and the schema as a whole, the references that it leads to."""
    uses: dict[str, set[str]] = {_ROOT: set(_references(root))}
    for place in ("definitions", "$defs"):
        definitions = cast("Schema", root.get(place) or {})
        uses |= {f"{_DEFINITIONS}{n}": set(_references(d)) for n, d in definitions.items()}
    reach: dict[str, Set[str]] = {}
    for name, used in uses.items():
        reached, waiting = set[str](), used
        while waiting:
            reached |= waiting
            waiting = {each for at in waiting for each in uses.get(at, ())} - reached
        reach[name] = reached
    return reach
