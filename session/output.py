"""The form that the final answer of a Run must have."""

import re
from dataclasses import dataclass
from enum import StrEnum

from agentslot._json import JsonError, loads

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class OutputStrategy(StrEnum):
    """How a model is made to keep a form.

    `native`: the provider constrains the answer to the schema. `tool`: the answer is the arguments
    of a tool that the model has to call. `prompted`: the model is told in words.
    """

    NATIVE = "native"
    TOOL = "tool"
    PROMPTED = "prompted"


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """One JSON value that fits a schema.

    Attributes:
        schema: JSON Schema of an object, as JSON text. It is kept and sent in this spelling.
        name: what the value is called: letters, digits, `_` and `-`, at most 64.
        strategy: how it is asked for; None lets the model's capabilities decide.

    Raises:
        ValueError: the name is none, or the schema no JSON object.
    """

    schema: str
    name: str = "answer"
    strategy: OutputStrategy | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            msg = f"name must be 1 to 64 letters, digits, _ and -, not {self.name!r}"
            raise ValueError(msg)
        if not _is_object(self.schema):
            msg = f"schema must be the text of a JSON object, not {self.schema[:40]!r}"
            raise ValueError(msg)


def _is_object(text: str) -> bool:
    try:
        return isinstance(loads(text), dict)
    except JsonError:
        return False
