"""What a person types behind a command, as the JSON object that the command takes."""

import shlex

from agentslot._json import JsonError, JsonValue, dumps, loads
from agentslot.interaction.command import CommandDescriptor, CommandField, FieldType
from agentslot.session import ClassifiedError, ErrorKind

_SHOWN_FIELDS = 3
_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}


def typed_arguments(descriptor: CommandDescriptor, typed: str) -> str:
    """The arguments of a command as JSON text.

    Args:
        descriptor: the command.
        typed: one JSON object, or words: `field=value`, or values of the fields in their order.
            Quotes keep a value with blanks together; several choices are separated by commas.

    Raises:
        ClassifiedError: `invalid_input/invalid_arguments`.
    """
    typed = typed.strip()
    if not typed:
        return ""
    if typed.startswith("{"):
        try:
            loads(typed)
        except JsonError as error:
            raise _invalid(descriptor, str(error)) from error
        return typed
    try:
        words = shlex.split(typed)
    except ValueError as error:
        raise _invalid(descriptor, f"{error} in {typed!r}") from error
    return dumps(_filled(descriptor, words))


def _filled(descriptor: CommandDescriptor, words: list[str]) -> dict[str, JsonValue]:
    fields = {field.key: field for field in descriptor.fields}
    values: dict[str, JsonValue] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or key not in fields:
            key, text = next((key for key in fields if key not in values), ""), word
        if not key:
            raise _invalid(descriptor, f"{word!r} is one value too many")
        if key in values:
            raise _invalid(descriptor, f"{key} is given twice")
        values[key] = _value(descriptor, fields[key], text)
    return values


def _value(descriptor: CommandDescriptor, field: CommandField, text: str) -> JsonValue:
    match field.type:
        case FieldType.BOOLEAN:
            if text.lower() not in _BOOLEANS:
                raise _invalid(descriptor, f"{field.key} is true or false, not {text!r}")
            return _BOOLEANS[text.lower()]
        case FieldType.MULTI_CHOICE:
            return [*text.split(",")]
        case _:
            return text


def _invalid(descriptor: CommandDescriptor, what: str) -> ClassifiedError:
    message = f"/{descriptor.key}: {what}"
    return ClassifiedError(ErrorKind.INVALID_INPUT, "invalid_arguments", message)


def usage(descriptor: CommandDescriptor) -> str:
    """A command with its first fields, for the list of commands: `/key FIELD [FIELD] …`."""
    fields = [
        field.key.upper() if field.required else f"[{field.key.upper()}]"
        for field in descriptor.fields
    ]
    more = ["…"] if len(fields) > _SHOWN_FIELDS else []
    return " ".join([f"/{descriptor.key}", *fields[:_SHOWN_FIELDS], *more])


def shown_lines(data: JsonValue) -> list[str]:
    """What a command answered, a line for each member or element."""
    match data:
        case None:
            return []
        case dict():
            return [line for key, value in data.items() for line in _member(key, value)]
        case list():
            return [f"- {_inline(element)}" for element in data]
        case value:
            return [_inline(value)]


def _member(key: str, value: JsonValue) -> list[str]:
    if isinstance(value, list) and any(isinstance(element, dict) for element in value):
        return [f"{key}:", *(f"  {line}" for line in shown_lines(value))]
    return [f"{key}: {_inline(value)}"]


def _inline(value: JsonValue) -> str:
    match value:
        case str():
            return value
        case list():
            return ",".join(_inline(element) for element in value)
        case dict():
            shown = ((key, _inline(member)) for key, member in value.items())
            return " ".join(f"{key}={text}" for key, text in shown if text)
        case _:
            return dumps(value)
