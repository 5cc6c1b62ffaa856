"""Arguments that arrive value by value, each with its place, while the model is still writing."""

import re

from agentslot._json import JsonValue, dumps
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.wires.reading import JsonObject, as_text

_STEP = re.compile(r"\.([^.\[]+)|\['([^']*)'\]|\[(\d{1,7})\]")
_MAX_STEPS = 60
_VALUES = "stringValue", "numberValue", "boolValue"


class PartialArguments:
    """Collects the values of one call; the pieces of one string are joined."""

    def __init__(self) -> None:
        self._values: dict[str, list[JsonValue]] = {}

    def add(self, piece: JsonObject) -> None:
        """Take one of `partialArgs`."""
        value = next((piece[name] for name in _VALUES if name in piece), None)
        self._values.setdefault(as_text(piece.get("jsonPath")), []).append(value)

    def text(self) -> str:
        """The arguments as a JSON object.

        Raises:
            ModelError: a value has no place in it (`invalid_answer`).
        """
        arguments: JsonObject = {}
        for path, pieces in self._values.items():
            texts = [piece for piece in pieces if isinstance(piece, str)]
            value = "".join(texts) if texts else pieces[-1]
            _put(arguments, path, value)
        return dumps(arguments)


def _put(arguments: JsonObject, path: str, value: JsonValue) -> None:
    steps = _steps(path)
    place: JsonValue = arguments
    for step, below in zip(steps, [*steps[1:], None], strict=True):
        place = _enter(place, step, value if below is None else _holder(below))


def _holder(step: str | int) -> JsonValue:
    """An empty value that the step leads into."""
    return {} if isinstance(step, str) else []


def _enter(place: JsonValue, step: str | int, value: JsonValue) -> JsonValue:
    """What stands one step inside; the value, if nothing stood there."""
    if isinstance(place, dict) and isinstance(step, str):
        return place.setdefault(step, value)
    if isinstance(place, list) and isinstance(step, int) and step <= len(place):
        if step == len(place):
            place.append(value)
        return place[step]
    raise _misplaced()


def _steps(path: str) -> list[str | int]:
    """The names and indexes of a path such as `$.rooms[0]['the name']`."""
    steps: list[str | int] = []
    at = 1 if path.startswith("$") else len(path)
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            raise _misplaced()
        steps.append(found[1] or found[2] or "" if found[3] is None else int(found[3]))
        at = found.end()
    if not 0 < len(steps) <= _MAX_STEPS:
        raise _misplaced()
    return steps


def _misplaced() -> ModelError:
    message = "the provider sent an argument of a tool call that has no place in it"
    return ModelError(ModelErrorCode.INVALID_ANSWER, message)
