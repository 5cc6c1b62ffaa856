"""From the argument text that a model wrote to the keyword arguments of a function."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from agentslot._json import JsonError, JsonValue, loads
from agentslot.tool.errors import ToolFailedError

_SHOWN_ARGUMENTS = 2000
_SHOWN_PROBLEMS = 5


@dataclass(frozen=True, slots=True)
class ArgumentReader:
    """Reads the arguments of one tool.

    Attributes:
        schema: the closed JSON Schema that the model was shown.
        validate: turns a decoded object into keyword arguments, or raises ValidationError.
        prepare: repairs shapes of this tool's own that models get wrong; returns a copy.
    """

    schema: dict[str, JsonValue]
    validate: Callable[[object], dict[str, object]]
    prepare: Callable[[dict[str, JsonValue]], dict[str, JsonValue]] | None = None

    def read(self, arguments: Mapping[str, JsonValue], text: str) -> dict[str, object]:
        """Keyword arguments from the decoded arguments of a call, and the text they came from.

        Numbers and booleans written as text are understood, and so is a null that stands for an
        optional argument left out.

        Raises:
            ToolFailedError: `invalid_arguments`; the message shows the model what it wrote.
        """
        written = dict(arguments)
        if self.prepare is not None:
            written = self.prepare(written)
        try:
            return self.validate(written)
        except ValidationError:
            repaired = _without_optional_nulls(written, self.schema, self.schema.get("$defs"))
        try:
            return self.validate(repaired)
        except ValidationError as error:
            raise _invalid(_explain(error), text) from error


def parse_arguments(text: str) -> dict[str, JsonValue]:
    """Decode the argument text of a call into an object.

    No text and `null` count as no arguments; an object inside a JSON string is unwrapped once.

    Raises:
        ToolFailedError: `invalid_arguments`, if that gives no JSON object, or members stand twice.
    """
    try:
        value = loads(text) if text.strip() else None
        if isinstance(value, str):
            value = loads(value)
    except JsonError as error:
        raise _invalid(str(error), text) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _invalid("they must be one JSON object", text)
    return value


def _without_optional_nulls(
    value: JsonValue, schema: JsonValue, definitions: JsonValue
) -> JsonValue:
    """Drop the nulls that models write for optional members when they must name every member."""
    described = _resolved(schema, definitions)
    if isinstance(value, list):
        items = described.get("items")
        return [_without_optional_nulls(item, items, definitions) for item in value]
    properties = described.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, dict):
        return value
    required = described.get("required")
    optional = set(properties).difference(required if isinstance(required, list) else ())
    return {
        name: _without_optional_nulls(member, properties.get(name), definitions)
        for name, member in value.items()
        if member is not None or name not in optional
    }


def _resolved(schema: JsonValue, definitions: JsonValue) -> dict[str, JsonValue]:
    while isinstance(schema, dict) and "$ref" in schema and isinstance(definitions, dict):
        schema = definitions.get(str(schema["$ref"]).removeprefix("#/$defs/"))
    return schema if isinstance(schema, dict) else {}


def _explain(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    shown = [
        f"{'.'.join(map(str, problem['loc']))}: {_reason(problem['type'], problem['msg'])}"
        for problem in problems[:_SHOWN_PROBLEMS]
    ]
    if len(problems) > _SHOWN_PROBLEMS:
        shown.append(f"and {len(problems) - _SHOWN_PROBLEMS} more")
    return "; ".join(shown)


def _reason(kind: str, message: str) -> str:
    known = {"missing": "required but missing", "extra_forbidden": "no such argument"}
    return known.get(kind) or message[:1].lower() + message[1:]


def _invalid(reason: str, text: str) -> ToolFailedError:
    shown = text if len(text) <= _SHOWN_ARGUMENTS else f"{text[:_SHOWN_ARGUMENTS]}…"
    return ToolFailedError(
        "invalid_arguments", f"The arguments were not accepted: {reason}. You wrote: {shown}"
    )
