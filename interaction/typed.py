"""Typed answers: the final answer of a Run as a validated value."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError, create_model
from typing_extensions import TypeForm

from agentslot._json import JsonError, dumps, loads
from agentslot.interaction.receipts import RunResult
from agentslot.session import (
    ClassifiedError,
    ErrorKind,
    MessageInput,
    OutputFormat,
    OutputStrategy,
    RunStatus,
    TextPart,
    TokenUsage,
    safe_line,
)

T = TypeVar("T")

_FENCED = re.compile(
    r"^[ \t]*```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE | re.IGNORECASE
)
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_SHOWN_PROBLEMS = 5


@dataclass(frozen=True, slots=True)
class TypedResult(Generic[T]):
    """A validated answer.

    Attributes:
        value: the answer.
        result: what became of the message that brought it.
        earlier: the same of the messages before, whose answers did not fit, oldest first.
    """

    value: T
    result: RunResult
    earlier: tuple[RunResult, ...] = ()

    @property
    def usage(self) -> TokenUsage:
        """Tokens of all tries together."""
        return sum((each.usage for each in self.earlier), self.result.usage)

    @property
    def cost_usd(self) -> Decimal | None:
        """What all tries together cost in US dollars; None if the price of one is not known."""
        costs = [each.cost_usd for each in (*self.earlier, self.result)]
        known = [cost for cost in costs if cost is not None]
        return sum(known, Decimal(0)) if len(known) == len(costs) else None


class AnswerInvalidError(ClassifiedError):
    """No valid answer came within the allowed tries, or the Run did not complete.

    Attributes:
        result: what became of the last message.
        problems: what was wrong with its answer, one line each; empty if the Run did not complete.
    """

    def __init__(self, result: RunResult, problems: tuple[str, ...]) -> None:
        if problems:
            message = f"the answer does not fit the wanted type: {'; '.join(problems)}"
        else:
            why = "" if result.termination is None else f": {result.termination.message}"
            message = f"the run ended as {result.status}{why}"
        super().__init__(ErrorKind.UNAVAILABLE, "answer_invalid", message)
        self.result = result
        self.problems = problems


class AnswerType(Generic[T]):
    """The type of a wanted answer: how it is asked for, and read.

    Providers hold models to objects only, so any other value is asked for as the one member of an
    object.
    """

    def __init__(self, output: TypeForm[T], strategy: OutputStrategy | None = None) -> None:
        self._adapter: TypeAdapter[T] = TypeAdapter(output)
        self._wrapper: type[BaseModel] | None = None
        schema = self._adapter.json_schema()
        if schema.get("type") != "object":
            self._wrapper = create_model("Answer", value=(output, ...))
            schema = self._wrapper.model_json_schema()
        name = _NOT_A_NAME.sub("_", str(schema.get("title", "")))[:64]
        self.format = OutputFormat(dumps(schema), name or "answer", strategy)

    def read(self, text: str) -> T:
        """The value.

        Raises:
            JsonError: the text is not one JSON value, alone or in the one fence in it.
            ValidationError: the value is of another type.
        """
        fenced = _FENCED.findall(text)
        document = fenced[0] if len(fenced) == 1 else text.strip()
        value = loads(document)  # pydantic takes the last of two equal members; this refuses them
        if self._wrapper is not None and isinstance(value, dict) and value.keys() == {"value"}:
            whole: Any = self._wrapper.model_validate_json(document)  # its member has the type
            return cast("T", whole.value)
        return self._adapter.validate_json(document)


async def typed_answer(
    send: Callable[[MessageInput, OutputFormat], Awaitable[RunResult]],
    content: MessageInput,
    wanted: AnswerType[T],
    tries: int,
) -> TypedResult[T]:
    """Send a message, ask for an answer of a type, and ask again with what was wrong with it.

    Raises:
        ValueError: `tries` is less than 1.
        AnswerInvalidError: see there; at most `tries` messages were sent.
    """
    if tries < 1:
        raise ValueError(f"tries must be at least 1, not {tries}")
    message, earlier = content, list[RunResult]()
    for attempt in range(1, tries + 1):
        result = await send(message, wanted.format)
        if result.status is not RunStatus.COMPLETED:
            raise AnswerInvalidError(result, ())
        try:
            return TypedResult(wanted.read(result.text), result, tuple(earlier))
        except (JsonError, ValidationError) as error:
            problems = _problems(error)
            if attempt == tries:
                raise AnswerInvalidError(result, problems) from error
        earlier.append(result)
        message = MessageInput((TextPart(_correction(problems)),))
    raise AssertionError("unreachable: the last try returns or raises")


def _problems(error: JsonError | ValidationError) -> tuple[str, ...]:
    if isinstance(error, JsonError):
        return (safe_line(f"it is not one valid JSON value: {error}"),)
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return tuple(
        safe_line(f"{'.'.join(map(str, each['loc'])) or 'the answer'}: {each['msg']}")
        for each in found[:_SHOWN_PROBLEMS]
    )


def _correction(problems: tuple[str, ...]) -> str:
    listed = "\n".join(f"- {problem}" for problem in problems)
    return f"Your last answer does not fit the schema:\n{listed}\n\nGive the whole answer again."
