"""Schemas of answers and strict tools in the parts of JSON Schema that providers hold a model to.

Both OpenAI and Anthropic want every object closed, and refuse most constraints. What a schema says
beyond that is checked by whoever asked, when the answer has come.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import cast

from agentslot._json import dumps, loads
from agentslot.model.contract import ModelRequest
from agentslot.model.wires.reading import JsonObject, as_array, as_object, as_text
from agentslot.model.wires.schematree import DEFINITIONS, contains_itself, nodes
from agentslot.model.wires.strictlimits import is_within_limits
from agentslot.session import OutputFormat, OutputStrategy, ToolDefinition

_FORMATS = frozenset(
    {
        *("date-time", "time", "date", "duration", "email"),
        *("hostname", "ipv4", "ipv6", "uuid"),
    }
)
_SHAPE = frozenset(
    {
        *("$ref", "$defs", "type", "title", "description", "enum", "const"),
        *("properties", "required", "additionalProperties", "items", "anyOf", "format"),
    }
)
_STRICT = _SHAPE | {
    *("pattern", "multipleOf", "minItems", "maxItems"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
}
_UNSAID = frozenset({"$schema", "$comment", "default", "examples", "deprecated", "discriminator"})
_ALTERNATIVES = frozenset({"anyOf", "oneOf", "allOf", "not", "enum", "const"})


@lru_cache(maxsize=128)
def schema_of(output: OutputFormat) -> JsonObject:
    """The schema of a form; not to be changed."""
    return as_object(loads(output.schema))


def native_output(request: ModelRequest) -> OutputFormat | None:
    """The form that the provider itself must hold the model to, if a request wants that."""
    output = request.output
    return output if output is not None and output.strategy is OutputStrategy.NATIVE else None


def output_tool(request: ModelRequest) -> str | None:
    """The name of the tool whose arguments are the answer, if a request wants that: the last."""
    output = request.output
    wanted = output is not None and output.strategy is OutputStrategy.TOOL
    return request.tools[-1].name if wanted else None


@lru_cache(maxsize=128)
def can_be_native(output: OutputFormat) -> bool:
    """Whether every provider that holds models to schemas can hold one to this."""
    return is_closed(schema_of(output))


@lru_cache(maxsize=128)
def can_be_tool(output: OutputFormat) -> bool:
    """Whether every provider takes it as the arguments of a tool, which are one kind of object."""
    schema = schema_of(output)
    return schema.get("type") == "object" and not schema.keys() & _ALTERNATIVES


@lru_cache(maxsize=128)
def openai_format(output: OutputFormat) -> JsonObject:
    """The form as both protocols of OpenAI have it; strict if it can be said so."""
    strict = strict_schema(schema_of(output))
    schema = strict or schema_of(output)
    return {"name": output.name, "schema": schema, "strict": strict is not None}


@lru_cache(maxsize=128)
def anthropic_format(output: OutputFormat) -> JsonObject:
    """The form as Anthropic has it."""
    return {"type": "json_schema", "schema": constrained_schema(schema_of(output))}


def openai_parameters(tool: ToolDefinition) -> JsonObject | None:
    """The schema of a strict tool as OpenAI wants it; None if the tool is not, or cannot be."""
    schema = _held_to(tool)
    return schema and strict_schema(schema)


def anthropic_parameters(tool: ToolDefinition) -> JsonObject | None:
    """The schema of a strict tool as Anthropic wants it; None if the tool is not, or cannot be."""
    schema = _held_to(tool)
    return schema and constrained_schema(schema)


def _held_to(tool: ToolDefinition) -> JsonObject | None:
    """The schema of a tool that is strict, if every provider can hold a model to it as it stands.

    What may be left out would have to be written then, so nothing may.
    """
    if not tool.strict:
        return None
    schema = cast("JsonObject", dict(tool.input_schema))  # it is JSON
    closed = is_closed(schema) and all(map(_requires_all, nodes(schema)))
    return schema if closed else None


def _requires_all(node: JsonObject) -> bool:
    required = set(map(as_text, as_array(node.get("required"))))
    return as_object(node.get("properties")).keys() <= required


def is_closed(schema: JsonObject) -> bool:
    """Whether every provider can hold a model to it.

    Objects must list their members, arrays say what they hold, references lead into `$defs`, and
    nothing may contain itself.
    """
    return all(map(_says_enough, nodes(schema))) and not contains_itself(schema)


def strict_schema(schema: JsonObject) -> JsonObject | None:
    """The schema as OpenAI wants it for strict answers; None if it cannot be said so.

    Every member becomes required: the model then writes what it could have left out.
    """
    if not is_closed(schema) or schema.get("type") != "object":
        return None
    strict = _rewritten(schema, lambda node: _required(_closed(node)))
    sayable = all(node.keys() <= _STRICT and _knows(node, _FORMATS) for node in nodes(strict))
    return strict if sayable and is_within_limits(strict) else None


def constrained_schema(schema: JsonObject) -> JsonObject:
    """The schema as Anthropic wants it; what it would refuse is said in words."""
    return _rewritten(schema, lambda node: _in_words(_closed(node)))


def _closed(node: JsonObject) -> JsonObject:
    if node.get("type") == "object":
        return {"properties": {}, **node, "additionalProperties": False}
    return node


def _required(node: JsonObject) -> JsonObject:
    if node.get("type") == "object":
        return {**node, "required": list(as_object(node["properties"]))}
    return node


def _knows(node: JsonObject, formats: frozenset[str]) -> bool:
    return "format" not in node or as_text(node["format"]) in formats


def _in_words(node: JsonObject) -> JsonObject:
    unsaid = {name: value for name, value in node.items() if name not in _SHAPE}
    if not _knows(node, _FORMATS | {"uri"}):
        unsaid["format"] = node["format"]
    if unsaid.get("minItems") in (0, 1):
        del unsaid["minItems"]
    if not unsaid:
        return node
    kept = {name: value for name, value in node.items() if name not in unsaid}
    described = as_text(node.get("description"))
    words = f"Must also satisfy {dumps(unsaid)}"
    return {**kept, "description": f"{described}\n{words}" if described else words}


def _rewritten(schema: JsonObject, rewrite: Callable[[JsonObject], JsonObject]) -> JsonObject:
    """The schema with every schema in it rewritten, the innermost first."""
    node: JsonObject = {}
    for name, value in _plain(schema).items():
        if name in ("properties", "$defs"):
            members = as_object(value).items()
            node[name] = {key: _rewritten(as_object(member), rewrite) for key, member in members}
        elif name == "anyOf":
            node[name] = [_rewritten(as_object(option), rewrite) for option in as_array(value)]
        elif name == "items":
            node[name] = _rewritten(as_object(value), rewrite)
        else:
            node[name] = value
    return rewrite(node)


def _plain(schema: JsonObject) -> JsonObject:
    """One schema without remarks, and with `anyOf` in the place of what means the same."""
    plain = {name: value for name, value in schema.items() if name not in _UNSAID}
    if "oneOf" in plain and "anyOf" not in plain:
        plain["anyOf"] = plain.pop("oneOf")
    alternatives = plain.get("allOf")
    if isinstance(alternatives, list) and len(alternatives) == 1:
        del plain["allOf"]
        plain = {**as_object(alternatives[0]), **plain}
    if "$ref" in plain and plain.keys() - {"$ref", "$defs"}:
        # Beside a reference nothing may stand, and what describes it must not be lost.
        plain["anyOf"] = [{"$ref": plain.pop("$ref")}]
    return plain


def _says_enough(node: JsonObject) -> bool:
    if "$ref" in node:
        return as_text(node["$ref"]).startswith(DEFINITIONS)
    if node.keys() & {"enum", "const", "anyOf", "oneOf", "allOf"}:
        return True
    match node.get("type"):
        case "object":
            return "properties" in node and node.get("additionalProperties", False) is False
        case "array":
            return bool(node.get("items"))
        case kind:
            return isinstance(kind, str)
