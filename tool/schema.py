"""Making a generated JSON Schema short and plain for a model."""

from pydantic import JsonValue

JsonObject = dict[str, JsonValue]

_DEFINITION = "#/$defs/"
_NULL: JsonValue = {"type": "null"}


def tidy_schema(schema: JsonObject) -> JsonObject:
    """Write definitions where they are used, and optional members without their `null`.

    Some providers refuse `$ref`; every model spends tokens on it. A definition that contains
    itself has to stay. An optional member that could also be null is shown without: leaving it
    out says the same.
    """
    definitions = schema.get("$defs")
    known = definitions if isinstance(definitions, dict) else {}
    inlined = _inlined({k: v for k, v in schema.items() if k != "$defs"}, known, ())
    if _DEFINITION in str(inlined):
        inlined["$defs"] = known
    return inlined


def _inlined(schema: JsonObject, known: JsonObject, inside: tuple[str, ...]) -> JsonObject:
    name = str(schema.get("$ref", "")).removeprefix(_DEFINITION)
    definition = known.get(name)
    if isinstance(definition, dict):
        if name in inside:
            return schema
        own = {key: value for key, value in schema.items() if key != "$ref"}
        return _inlined({**definition, **own}, known, (*inside, name))
    plain = {key: _inlined_value(value, known, inside) for key, value in schema.items()}
    return _without_optional_null(plain)


def _inlined_value(value: JsonValue, known: JsonObject, inside: tuple[str, ...]) -> JsonValue:
    if isinstance(value, dict):
        return _inlined(value, known, inside)
    if isinstance(value, list):
        return [_inlined_value(item, known, inside) for item in value]
    return value


def _without_optional_null(schema: JsonObject) -> JsonObject:
    """Drop `null` from the alternatives of members that are not required."""
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return schema
    kept = required if isinstance(required, list) else []
    members = {
        name: member if name in kept else _without_null(member)
        for name, member in properties.items()
    }
    return {**schema, "properties": members}


def _without_null(member: JsonValue) -> JsonValue:
    choices = member.get("anyOf") if isinstance(member, dict) else None
    if not isinstance(member, dict) or not isinstance(choices, list) or _NULL not in choices:
        return member
    rest = {k: v for k, v in member.items() if k != "anyOf" and (k, v) != ("default", None)}
    others = [choice for choice in choices if choice != _NULL]
    if len(others) == 1 and isinstance(others[0], dict):
        return {**others[0], **rest}
    return {**rest, "anyOf": others}
