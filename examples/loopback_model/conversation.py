"""The conversation in a request: each call with its one result.

A vendor refuses a request that breaks these rules, and so does this model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue, TypeAdapter, ValidationError

from examples.loopback_model.errors import RequestError
from examples.loopback_model.request import (
    AssistantMessage,
    Content,
    InstructionMessage,
    Message,
    ToolMessage,
)


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it stands in the conversation, its arguments read."""

    id: str
    name: str
    arguments: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call and the content of its one result; `index` is the result's place in the messages."""

    index: int
    call: Call
    result: str

    def wrong(self, reason: str) -> RequestError:
        """The answer to a result that cannot be true."""
        return RequestError(
            f"Wrong result of '{self.call.id}' ({self.call.name}): {reason}.",
            param=f"messages[{self.index}].content",
        )


_ARGUMENTS = TypeAdapter(dict[str, JsonValue])


def read_exchanges(messages: Sequence[Message]) -> tuple[Exchange, ...]:
    """Pair each call with its result.

    Raises:
        RequestError: A result is missing, doubled, out of order or belongs to no call, a call id
            occurs twice, arguments are no JSON object, or there is nothing to answer.
    """
    exchanges: list[Exchange] = []
    pending: list[Call] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            call = _answered(message, pending, seen, index)
            exchanges.append(Exchange(index, call, text_of(message.content)))
            continue
        _refuse_unanswered(pending, index)
        if isinstance(message, AssistantMessage):
            pending = _asked(message, seen, index)
    _refuse_unanswered(pending, len(messages))
    if isinstance(messages[-1], InstructionMessage | AssistantMessage):
        raise RequestError("The last message leaves nothing to answer.", param="messages")
    return tuple(exchanges)


def text_of(content: Content) -> str:
    """The content as one text."""
    return content if isinstance(content, str) else "".join(part.text for part in content)


def _asked(message: AssistantMessage, seen: set[str], index: int) -> list[Call]:
    calls: list[Call] = []
    for position, call in enumerate(message.tool_calls or ()):
        where = f"messages[{index}].tool_calls[{position}]"
        if call.id in seen:
            raise RequestError(
                f"The tool call id '{call.id}' stands for two calls.", param=f"{where}.id"
            )
        seen.add(call.id)
        try:
            arguments = _ARGUMENTS.validate_json(call.function.arguments)
        except ValidationError as error:
            raise RequestError(
                "The arguments of a tool call must be a string that holds a JSON object.",
                param=f"{where}.function.arguments",
            ) from error
        calls.append(Call(call.id, call.function.name, arguments))
    return calls


def _answered(message: ToolMessage, pending: list[Call], seen: set[str], index: int) -> Call:
    wanted = message.tool_call_id
    if pending and pending[0].id == wanted:
        return pending.pop(0)
    if any(call.id == wanted for call in pending):
        problem = f"The result of '{wanted}' came before the result of '{pending[0].id}'."
    elif wanted in seen:
        problem = f"The call '{wanted}' was answered twice."
    elif pending:
        problem = f"No call with the id '{wanted}' was made."
    else:
        problem = (
            "A message with role 'tool' must be a response to a preceding message with "
            f"'tool_calls'; '{wanted}' is none."
        )
    raise RequestError(problem, param=f"messages[{index}].tool_call_id")


def _refuse_unanswered(pending: Sequence[Call], index: int) -> None:
    if pending:
        missing = ", ".join(call.id for call in pending)
        raise RequestError(
            "An assistant message with 'tool_calls' must be followed by tool messages responding "
            f"to each 'tool_call_id'. These had no response: {missing}",
            param=f"messages[{index}]",
        )
