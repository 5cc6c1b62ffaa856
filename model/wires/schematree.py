"""The schemas inside a JSON Schema, and where its references lead."""

from collections.abc import Iterator

from agentslot._json import JsonValue
from agentslot.model.wires.reading import JsonObject, as_array, as_object, as_text

DEFINITIONS = "#/$defs/"


def nodes(schema: JsonObject) -> Iterator[JsonObject]:
    """The schema and every schema in it."""
    yield schema
    inner: list[JsonValue] = []
    for name, value in schema.items():
        if name in ("properties", "$defs"):
            inner += as_object(value).values()
        elif name in ("anyOf", "oneOf", "allOf", "prefixItems"):
            inner += as_array(value)
        elif name == "items":
            inner.append(value)
    for each in inner:
        yield from nodes(as_object(each))


def resolved(node: JsonObject, definitions: JsonObject) -> JsonObject:
    """What a schema that is only a reference stands for; any other stands for itself."""
    while "$ref" in node:
        node = as_object(definitions.get(as_text(node["$ref"]).removeprefix(DEFINITIONS)))
    return node


def contains_itself(schema: JsonObject) -> bool:
    """Whether a definition leads back to itself."""
    definitions = as_object(schema.get("$defs"))
    uses = {
        name: {as_text(node.get("$ref")).removeprefix(DEFINITIONS) for node in nodes(as_object(d))}
        for name, d in definitions.items()
    }
    for name in uses:
        reached, waiting = set[str](), {name}
        while waiting:
            reached |= (further := uses.get(waiting.pop(), set()) - reached)
            waiting |= further
        if name in reached:
            return True
    return False
