"""The schema of a function's arguments, from its signature and its docstring."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import isfinite
from types import UnionType
from typing import (
    Annotated,
    Any,
    NotRequired,
    Required,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import ConfigDict, Field, JsonValue, PydanticUserError, TypeAdapter, with_config
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError
from pydantic_core.core_schema import TaggedUnionSchema
from typing_extensions import TypedDict

from agentslot._json import dumps
from agentslot.tool.arguments import ArgumentReader
from agentslot.tool.contract import ToolInvocation
from agentslot.tool.docstring import Docstring
from agentslot.tool.errors import ToolDeclarationError
from agentslot.tool.schema import tidy_schema

_SHOWN = (str, int, float, bool)  # defaults that stand in the schema
_NOT_BY_NAME: Mapping[object, str] = {
    inspect.Parameter.POSITIONAL_ONLY: "take the `/` out of the signature, or wrap the function",
    inspect.Parameter.VAR_POSITIONAL: "take a list instead",
    inspect.Parameter.VAR_KEYWORD: "name each that there is, or take a dict",
}


@dataclass(frozen=True, slots=True)
class Signature:
    """How a function is called by a model.

    Attributes:
        reader: reads and validates its arguments; holds the schema.
        invocation: name of the parameter that receives the ToolInvocation, if it has one.
    """

    reader: ArgumentReader
    invocation: str | None


class _SchemaWriter(GenerateJsonSchema):
    """Leaves out what says nothing to a model, and what JSON cannot say."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - so declared

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False  # it only repeats the name of the property

    def encode_default(self, dft: Any) -> Any:
        encoded = super().encode_default(dft)
        try:
            dumps(encoded)
        except ValueError as error:  # an infinity
            raise PydanticSerializationError(str(error)) from error
        return encoded

    def tagged_union_schema(self, schema: TaggedUnionSchema) -> dict[str, Any]:
        # The discriminator, a word of OpenAPI, names definitions that are written in place later.
        return {
            k: v for k, v in super().tagged_union_schema(schema).items() if k != "discriminator"
        }


def written(function: Callable[..., object]) -> Callable[..., object]:
    """The function as it stands in the source, with its name, annotations and docstring."""
    if isinstance(function, partial):
        return cast("partial[object]", function).func
    return function


def read_signature(function: Callable[..., object], name: str, documented: Docstring) -> Signature:
    """Derive the argument schema of `function`.

    Raises:
        ToolDeclarationError: a parameter has no annotation, no name, or a type without a schema.
    """
    if inspect.isasyncgenfunction(function):
        raise ToolDeclarationError(name, "it is an async generator; return a list of what it gives")
    hints = _type_hints(function, name)
    invocation: str | None = None
    fields: dict[str, object] = {}
    for parameter in _parameters(function, name):
        if remedy := _NOT_BY_NAME.get(parameter.kind):
            problem = f"parameter {parameter.name!r} cannot be passed by name"
            raise ToolDeclarationError(name, f"{problem}; {remedy}")
        if parameter.name not in hints:
            raise ToolDeclarationError(name, _without_annotation(parameter.name))
        hint = hints[parameter.name]
        if _is_invocation(hint):
            invocation = parameter.name
            continue
        fields[parameter.name] = _field(hint, parameter, documented)
    return Signature(_reader(fields, name), invocation)


def _is_invocation(hint: object) -> bool:
    """Whether a parameter receives the invocation, also one that is optional or annotated."""
    if get_origin(hint) in {Annotated, Union, UnionType}:
        return _is_invocation(get_args(hint)[0])
    return hint is ToolInvocation


def _without_annotation(parameter: str) -> str:
    problem = f"parameter {parameter!r} has no annotation"
    if parameter in {"self", "cls"}:
        problem += "; make a tool of the bound method instead: function_tool(instance.method)"
    return problem


def _parameters(function: Callable[..., object], name: str) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError as error:  # some classes that are written in C
        raise ToolDeclarationError(name, f"{error}; wrap it in a function of your own") from error


def _type_hints(function: Callable[..., object], name: str) -> dict[str, object]:
    definition = written(function)
    target = definition if inspect.isroutine(definition) else type(definition).__call__
    try:
        return get_type_hints(target, include_extras=True)
    except (NameError, TypeError) as error:
        raise ToolDeclarationError(name, f"its annotations cannot be read: {error}") from error


def _field(hint: object, parameter: inspect.Parameter, documented: Docstring) -> object:
    """The parameter as an item of a TypedDict; the function itself applies its default.

    What its annotation says of it wins over the docstring.
    """
    default = parameter.default
    shown: dict[str, JsonValue] = {"default": default} if _is_shown(default) else {}
    known = Field(json_schema_extra=shown)
    if text := documented.parameters.get(parameter.name):
        known = Field(description=text, json_schema_extra=shown)
    kind, *annotated = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    annotated = [Field(description=each) if isinstance(each, str) else each for each in annotated]
    if isinstance(default, FieldInfo):  # `x: int = Field(3, ge=1)`, as pydantic's own functions
        return Required[Annotated[(cast("Any", kind), known, *annotated, default)]]
    described: Any = Annotated[(cast("Any", kind), known, *annotated)]
    required = default is inspect.Parameter.empty
    return Required[described] if required else NotRequired[described]


def _is_shown(default: object) -> bool:
    """Whether a default stands in the schema: JSON has no infinity."""
    return isinstance(default, _SHOWN) and not (
        isinstance(default, float) and not isfinite(default)
    )


def _reader(fields: dict[str, object], name: str) -> ArgumentReader:
    try:
        adapter, schema = _with_schema(fields)
    except (PydanticUserError, RecursionError) as error:
        reason = f"the type of parameter {_culprit(fields)!r} has no JSON Schema: {_why(error)}"
        raise ToolDeclarationError(name, reason) from error
    schema.pop("title", None)
    for definition in schema.get("$defs", {}).values():
        definition.pop("title", None)
    return ArgumentReader(tidy_schema(schema), adapter.validate_python)


def _with_schema(
    fields: dict[str, object],
) -> tuple[TypeAdapter[dict[str, object]], dict[str, Any]]:
    closed = with_config(ConfigDict(extra="forbid", coerce_numbers_to_str=True))
    arguments = closed(cast("Any", TypedDict)("Arguments", fields))
    adapter = TypeAdapter[dict[str, object]](arguments)
    return adapter, adapter.json_schema(schema_generator=_SchemaWriter)


def _culprit(fields: dict[str, object]) -> str:
    """The first parameter that has no schema when it stands alone."""
    for parameter, field in fields.items():
        try:
            _with_schema({parameter: field})
        except (PydanticUserError, RecursionError):
            return parameter
    return ", ".join(fields)  # none alone


def _why(error: PydanticUserError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "it holds itself without a name; write a class, or a TypeAliasType"
    if error.code == "class-not-fully-defined":
        return "a name in it is not defined where it is written"
    return error.message.partition(". ")[0]  # what follows speaks to authors of pydantic models
