"""What every provider takes for a tool, whoever has made it."""

import re

from agentslot.session import ToolDefinition
from agentslot.tool.errors import ToolDeclarationError

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The names that a tool may have."""

_ALTERNATIVES = ("anyOf", "oneOf", "allOf", "not", "enum", "const")


def check_definition(definition: ToolDefinition) -> None:
    """Refuse what some provider would refuse in every request, with all the other tools.

    Raises:
        ToolDeclarationError: the name is none that all take, or the schema is not plainly an
            object.
    """
    name, schema = definition.name, definition.input_schema
    if not NAME.fullmatch(name):
        raise ToolDeclarationError(name, "its name must be 1 to 64 of A-Z a-z 0-9 _ -")
    if schema.get("type") != "object":
        raise ToolDeclarationError(name, 'its schema must say `"type": "object"` at its root')
    for keyword in _ALTERNATIVES:
        if keyword in schema:
            raise ToolDeclarationError(
                name, f"its schema has {keyword!r} at its root; put that below a property"
            )
