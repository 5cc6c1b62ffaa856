"""The arguments of a call as its tool will get them."""

from agentslot._json import JsonError, loads
from agentslot.session import ToolCall, ToolDefinition


class UnusableArguments(Exception):  # noqa: N818 - says what is the matter; never leaves the runtime
    """The arguments are no JSON object; the text tells the model what is wrong with them."""


def usable_arguments(call: ToolCall, definition: ToolDefinition) -> str:
    """The JSON text of the argument object, as the model wrote it wherever that is possible.

    Nothing at all, or `null`, counts as an empty object if the tool requires no argument. An object
    that was encoded twice is unwrapped once. Schema and types are the tool's own business.

    Raises:
        UnusableArguments: anything else that is not one valid JSON object.
    """
    text = call.arguments
    if text.strip() in ("", "null"):
        if definition.input_schema.get("required"):
            raise UnusableArguments("it has required arguments, and none were given")
        return "{}"
    value = _read(text)
    if isinstance(value, str):
        text = value
        value = _read(text)
    if not isinstance(value, dict):
        what = {list: "a list", str: "a text", bool: "a boolean", type(None): "null"}
        found = what.get(type(value), "a number")
        raise UnusableArguments(f"the arguments must be a JSON object, and they are {found}")
    return text


def _read(text: str) -> object:
    try:
        return loads(text)
    except JsonError as error:
        raise UnusableArguments(f"the arguments are not valid JSON: {error}") from error
