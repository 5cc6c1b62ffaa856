"""The shape of a chat-completions request."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from examples.loopback_model.errors import RequestError

OPTIONS = frozenset(
    [
        "frequency_penalty",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "metadata",
        "n",
        "parallel_tool_calls",
        "presence_penalty",
        "prompt_cache_key",
        "reasoning_effort",
        "response_format",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "store",
        "temperature",
        "tool_choice",
        "top_logprobs",
        "top_p",
        "user",
        "verbosity",
    ]
)
"""Request members that are legal and make no difference to this model."""


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TextPart(_Shape):
    """One part of a message content given as a list."""

    type: Literal["text"]
    text: str


Content = str | list[TextPart]


class InstructionMessage(_Shape):
    """What the developer of the agent tells the model."""

    role: Literal["system", "developer"]
    content: Content
    name: str | None = None


class UserMessage(_Shape):
    """What a person asks."""

    role: Literal["user"]
    content: Content
    name: str | None = None


class FunctionCall(_Shape):
    """Name and arguments of a call; the arguments are a string that holds a JSON object."""

    name: str
    arguments: str


class ToolCall(_Shape):
    """A call that the model asked for."""

    id: str = Field(min_length=1)
    type: Literal["function"]
    function: FunctionCall


class AssistantMessage(_Shape):
    """What the model answered earlier."""

    role: Literal["assistant"]
    content: Content | None = None
    tool_calls: list[ToolCall] | None = Field(default=None, min_length=1)
    refusal: str | None = None
    name: str | None = None


class ToolMessage(_Shape):
    """The result of one call."""

    role: Literal["tool"]
    content: Content
    tool_call_id: str


Message = Annotated[
    InstructionMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")
]


class ObjectSchema(BaseModel):
    """The JSON Schema of a tool's arguments, as far as this model reads it."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    type: Literal["object"]
    properties: dict[str, JsonValue] = {}
    required: list[str] = []


class Function(_Shape):
    """A tool that the model may call."""

    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")
    description: str | None = None
    parameters: ObjectSchema
    strict: bool | None = None


class Tool(_Shape):
    """The vendor's wrapping of a function."""

    type: Literal["function"]
    function: Function


class StreamOptions(_Shape):
    """What the stream carries besides the answer."""

    include_usage: bool = False


class ChatRequest(_Shape):
    """One request for a completion; only streaming is offered."""

    model: str
    messages: list[Message] = Field(min_length=1)
    stream: Literal[True]
    stream_options: StreamOptions = StreamOptions()
    tools: list[Tool] = Field(default=[], min_length=1)


_MEMBERS = TypeAdapter(dict[str, JsonValue])


def read_request(body: bytes) -> ChatRequest:
    """Read and check the request's shape.

    Raises:
        RequestError: The body is no JSON object of that shape, or has members that no vendor
            knows.
    """
    try:
        members = _MEMBERS.validate_json(body)
    except ValidationError as error:
        raise RequestError("The body of the request is no JSON object.") from error
    unknown = members.keys() - ChatRequest.model_fields.keys() - OPTIONS
    if unknown:
        raise RequestError(f"Unrecognized request argument supplied: {', '.join(sorted(unknown))}")
    try:
        return ChatRequest.model_validate(
            {name: value for name, value in members.items() if name not in OPTIONS}
        )
    except ValidationError as error:
        raise _refusal(error) from error


def _refusal(error: ValidationError) -> RequestError:
    first = error.errors(include_url=False, include_input=False)[0]
    path = ""
    for step in first["loc"]:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    return RequestError(f"Invalid request: {first['msg']}", param=path.removeprefix("."))
