"""Typed answers: the final answer of a Run as a validated value."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from agentslot._json import JsonError, dumps, loads
from agentslot.interaction.gateway import RunResult
from agentslot.session import (
    ClassifiedError,
    ErrorKind,
    MessageInput,
    RunStatus,
    TextPart,
    safe_line,
)

T = TypeVar("T")

_FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
_SHOWN_PROBLEMS = 5


@dataclass(frozen=True, slots=True)
class TypedResult(Generic[T]):
    """A validated answer.

    Attributes:
        value: the answer.
        result: what became of the message that brought it.
    """

    value: T
    result: RunResult


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


async def typed_answer(
    send: Callable[[MessageInput], Awaitable[RunResult]],
    content: MessageInput,
    output: type[T],
    tries: int,
) -> TypedResult[T]:
    """Send a message, ask for an answer of a type, and ask again with what was wrong with it.

    Raises:
        ValueError: `tries` is less than 1.
        AnswerInvalidError: see there; at most `tries` messages were sent.
    """
    if tries < 1:
        raise ValueError(f"tries must be at least 1, not {tries}")
    adapter = TypeAdapter(output)
    schema = dumps(adapter.json_schema())
    message = MessageInput((*content.parts, TextPart(_instruction(schema))))
    for attempt in range(1, tries + 1):
        result = await send(message)
        if result.status is not RunStatus.COMPLETED:
            raise AnswerInvalidError(result, ())
        try:
            return TypedResult(_read(adapter, result.text), result)
        except (JsonError, ValidationError) as error:
            problems = _problems(error)
            if attempt == tries:
                raise AnswerInvalidError(result, problems) from error
        message = MessageInput((TextPart(_correction(problems, schema)),))
    raise AssertionError("unreachable: the last try returns or raises")


def _read(adapter: TypeAdapter[T], text: str) -> T:
    fenced = _FENCED.match(text)
    document = fenced.group(1) if fenced else text.strip()
    loads(document)  # pydantic takes the last of two equal members; this refuses them
    return adapter.validate_json(document)


def _problems(error: JsonError | ValidationError) -> tuple[str, ...]:
    if isinstance(error, JsonError):
        return (safe_line(f"it is not one valid JSON value: {error}"),)
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return tuple(
        safe_line(f"{'.'.join(map(str, each['loc'])) or 'the answer'}: {each['msg']}")
        for each in found[:_SHOWN_PROBLEMS]
    )


def _instruction(schema: str) -> str:
    return (
        "\n\nWhen you are done, answer with one JSON value and nothing else, without any text"
        f" around it. It must fit this JSON Schema:\n{schema}"
    )


def _correction(problems: tuple[str, ...], schema: str) -> str:
    listed = "\n".join(f"- {problem}" for problem in problems)
    return (
        f"Your last answer does not fit the schema:\n{listed}\n\nAnswer again with one JSON value"
        f" and nothing else. The JSON Schema:\n{schema}"
    )
