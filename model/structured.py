"""Structured output: how a model is brought to answer in a wanted form.

A request says what form the final answer must have. What the model can do decides how it is asked,
by the rules of OutputStrategy, right before the request goes to its provider: another model, after
a switch or as a fallback, may be asked in another way. Of all this History sees nothing but the
answer as text.
"""

from dataclasses import replace
from datetime import UTC, datetime

from agentslot.model.contract import (
    AttemptRecorder,
    Completed,
    Completion,
    ExecutionCapabilities,
    FinishReason,
    ModelEvent,
    ModelExecutor,
    ModelRequest,
    ModelStream,
    TextDelta,
)
from agentslot.model.wires.outputschema import can_be_native, can_be_tool, output_tool, schema_of
from agentslot.model.wires.replay import without_calls
from agentslot.session import (
    ClassifiedError,
    ErrorKind,
    Message,
    MessageId,
    OutputFormat,
    OutputStrategy,
    ReasoningPart,
    Role,
    TextPart,
    ToolDefinition,
)

_TOOL = "final_answer"
_TOOL_DESCRIPTION = (
    "Gives your final answer to the user. Call it once, when you have all that the answer needs."
)
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


def shaped(request: ModelRequest, capabilities: ExecutionCapabilities) -> ModelRequest:
    """The request as that model must be asked for the wanted form.

    Afterwards `output` has a strategy that the provider acts on (native, or tool: then the tool is
    the last one), or is None because the request says it in words.

    Raises:
        ClassifiedError: `invalid_input/output_strategy_not_supported`: the strategy was forced.
    """
    if request.output is None:
        return request
    strategy = _strategy(request, request.output, capabilities)
    if strategy is OutputStrategy.PROMPTED:
        return in_words(request, request.output)
    output = replace(request.output, strategy=strategy)
    if strategy is OutputStrategy.NATIVE:
        return replace(request, output=output)
    tools = (*request.tools, _output_tool(request, output))
    return replace(request, output=output, tools=tools, late_tools=request.late_tools + 1)


def _strategy(
    request: ModelRequest, output: OutputFormat, capabilities: ExecutionCapabilities
) -> OutputStrategy:
    known = capabilities.structured_output or (OutputStrategy.PROMPTED,)
    apart = request.tools and not capabilities.native_output_with_tools
    usable = [each for each in known if not (apart and each is OutputStrategy.NATIVE)]
    if output.strategy is not None and output.strategy in usable:
        return output.strategy
    if output.strategy is None:
        fits = {OutputStrategy.NATIVE: can_be_native, OutputStrategy.TOOL: can_be_tool}
        open_to = (each for each in usable if each not in fits or fits[each](output))
        return next(open_to, OutputStrategy.PROMPTED)
    model = f"{request.config.provider}/{request.config.model}"
    why = " together with tools" if output.strategy in known else ""
    raise ClassifiedError(
        ErrorKind.INVALID_INPUT,
        "output_strategy_not_supported",
        f"model {model} has no {output.strategy} output{why}, only {', '.join(usable)}: leave the"
        " strategy open, or say in the model's ModelDescriptor what it can do",
    )


def in_words(request: ModelRequest, output: OutputFormat) -> ModelRequest:
    """The request with the form told in words, behind the conversation; no provider reads more."""
    text = (
        "When you are done, answer with one JSON value and nothing else, without any text around"
        f" it. It must fit this JSON Schema:\n{output.schema}"
    )
    said = Message(MessageId("output-format"), Role.USER, (TextPart(text),), _NO_TIME)
    return replace(request, inputs=request.inputs.showing([said]), output=None)


def _output_tool(request: ModelRequest, output: OutputFormat) -> ToolDefinition:
    name = _TOOL
    while any(tool.name == name for tool in request.tools):
        name += "_"
    return ToolDefinition(name, _TOOL_DESCRIPTION, schema_of(output))


def execute_shaped(
    executor: ModelExecutor, request: ModelRequest, recorder: AttemptRecorder
) -> ModelStream:
    """Let a provider run a call whose `output` may still be open; see `shaped`."""
    if request.output is None:
        return executor.execute(request, recorder)
    request = shaped(request, executor.inspect(request.config))
    stream = executor.execute(request, recorder)
    tool = output_tool(request)
    return stream if tool is None else _AnswerStream(stream, tool)


class _AnswerStream:
    """A stream in which the call of the output tool is the text of the answer."""

    def __init__(self, stream: ModelStream, tool: str) -> None:
        self._stream = stream
        self._tool = tool
        self._held: Completed | None = None

    async def receive(self) -> ModelEvent:
        if self._held is not None:
            held, self._held = self._held, None
            return held
        event = await self._stream.receive()
        if not isinstance(event, Completed):
            return event
        completion = answered(event.completion, self._tool)
        answer = completion.parts[-1] if completion.parts else None
        given = completion is not event.completion and not completion.calls
        completed = Completed(event.attempt_id, completion)
        if not given or not isinstance(answer, TextPart):
            return completed
        self._held = completed
        return TextDelta(event.attempt_id, answer.text)

    async def aclose(self) -> None:
        await self._stream.aclose()


def answered(completion: Completion, tool: str) -> Completion:
    """The completion with the call of the output tool as its text.

    What the model said beside it was no part of the answer, and is kept as thinking. If it also
    calls other tools, their results come first: it has to answer again when it has seen them.
    """
    written = [n for n, call in enumerate(completion.calls) if call.name == tool]
    if not written:
        return completion
    others = tuple(call for call in completion.calls if call.name != tool)
    if others:
        state = without_calls(completion.continuation, written)
        return replace(completion, calls=others, continuation=state)
    said = [part for part in completion.parts if isinstance(part, TextPart)]
    return replace(
        completion,
        parts=(
            *(ReasoningPart(p.text) if isinstance(p, TextPart) else p for p in completion.parts),
            TextPart(completion.calls[written[0]].arguments),
        ),
        calls=(),
        finish=completion.finish if completion.finish is FinishReason.LENGTH else FinishReason.STOP,
        continuation=None if said else completion.continuation,
    )
