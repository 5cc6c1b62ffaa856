"""Functions as tools."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import partial, update_wrapper
from types import MethodType
from typing import Generic, ParamSpec, TypeVar, cast, overload

import anyio
import anyio.to_thread
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from agentslot._failures import is_failure
from agentslot._json import JsonValue, dumps, replace_lone_surrogates
from agentslot.session import ArtifactMetadata, ToolDefinition, ToolResult, ToolStatus
from agentslot.tool.attachments import Attachment, attach, take_apart
from agentslot.tool.contract import Effect, ToolInvocation
from agentslot.tool.declaration import NAME
from agentslot.tool.docstring import parse_docstring
from agentslot.tool.errors import ToolDeclarationError, ToolFailedError
from agentslot.tool.fit import fit
from agentslot.tool.signature import read_signature, written
from agentslot.tool.waiting import never_waits

P = ParamSpec("P")
R = TypeVar("R")

_logger = logging.getLogger("agentslot.tool")


class FunctionTool(Generic[P, R]):
    """A function that a model can call; Python code still calls it as before.

    Attributes:
        definition: name, description and closed argument schema, as the model sees them.
        parallel_safe: whether it may run beside other calls of one batch.
        effect: the worst it can do; policies decide by it.
        timeout_seconds: how long one call may take; None means as long as it likes.
        deferred: whether the model has to find it with `tool_search` first.
        waits: whether a call may wait for something; false for an async function without `await`.
    """

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str | None = None,
        description: str | None = None,
        timeout_seconds: float | None = None,
        parallel_safe: bool = False,
        effect: Effect = Effect.IRREVERSIBLE,
        deferred: bool = False,
        strict: bool = False,
        prepare: Callable[[dict[str, JsonValue]], dict[str, JsonValue]] | None = None,
    ) -> None:
        """Derive the tool from the signature and the docstring of `function`.

        The arguments are those of `function_tool`, and `prepare`, which may repair the decoded
        arguments before they are validated; it returns a copy.

        Raises:
            ToolDeclarationError: the function cannot be shown to a model as it is written.
        """
        definition = written(function)
        name = name or str(getattr(definition, "__name__", type(definition).__name__))
        if not NAME.fullmatch(name):
            raise ToolDeclarationError(name, "pass name=… with letters, digits, `_` and `-` only")
        if isinstance(function, FunctionTool):
            raise ToolDeclarationError(name, "it is one already: use it as it is")
        if timeout_seconds is not None and not timeout_seconds > 0:
            raise ToolDeclarationError(name, "timeout_seconds must be positive")
        if not isinstance(effect, Effect):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped code
            known = ", ".join(f"Effect.{each.name}" for each in Effect)
            raise ToolDeclarationError(name, f"its effect is {effect!r}: use one of {known}")
        documented = parse_docstring(inspect.getdoc(definition))
        signature = read_signature(function, name, documented)
        self.definition = ToolDefinition(
            name, description or documented.text, signature.reader.schema, strict
        )
        self.parallel_safe = parallel_safe
        self.effect = effect
        self.timeout_seconds = timeout_seconds
        self.deferred = deferred
        self._function = function
        self._read = replace(signature.reader, prepare=prepare).read
        self._invocation = signature.invocation
        self.waits = timeout_seconds is not None or not never_waits(function)
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__
        )
        update_wrapper(self, function, updated=())

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself."""
        return self._function(*args, **kwargs)

    def method_of(self, owner: object) -> "FunctionTool[P, R]":
        """The same tool, made of a method, as the method of another object of that class."""
        other = copy(self)
        other._function = cast("Callable[P, R]", MethodType(self._function.__func__, owner))  # type: ignore[attr-defined]  # a bound method has it
        return other

    def check_arguments(self, arguments: Mapping[str, JsonValue], written: str) -> None:
        """Refuse arguments that do not fit the schema; see ArgumentCheck.

        Raises:
            ToolFailedError: `invalid_arguments`; the message shows the model what it wrote.
        """
        self._read(arguments, written)

    async def invoke(self, invocation: ToolInvocation) -> ToolResult:
        """Validate the arguments, call the function and make a result of what comes back."""
        call_id = invocation.call.id
        try:
            arguments = self._read(invocation.arguments(), invocation.call.arguments)
            if self._invocation is not None:
                arguments[self._invocation] = invocation
            value = await self._call_in_time(arguments)
            return await _result(invocation, value)
        except ToolFailedError as error:
            return ToolResult.failed(call_id, error.code, error.message)
        except BaseException as error:
            if not is_failure(error):
                raise
            name = self.definition.name
            _logger.warning("tool %s failed", name, exc_info=error)
            message = f"{name} failed with {type(error).__name__}; the cause is in the log"
            return ToolResult.failed(call_id, "tool_internal", message)

    async def _call_in_time(self, arguments: dict[str, object]) -> object:
        if self.timeout_seconds is None:
            return await self._call(arguments)
        with anyio.move_on_after(self.timeout_seconds):
            return await self._call(arguments)
        raise ToolFailedError(
            "timeout", f"{self.definition.name} took longer than {self.timeout_seconds:g} seconds"
        )

    async def _call(self, arguments: dict[str, object]) -> object:
        call = partial(cast("Callable[..., object]", self._function), **arguments)
        value = call() if self._is_async else await _in_thread(call)
        return await cast("Awaitable[object]", value) if inspect.isawaitable(value) else value


async def _in_thread(call: Callable[[], object]) -> object:
    """Call a sync function beside the loop.

    A thread cannot be stopped: on cancellation it is left to itself. A long function may look at
    anyio.from_thread.check_cancelled(). One that hangs must not use up the threads that all the
    rest of the application shares, so each call has a place of its own.
    """
    # In a tuple, since trio refuses a coroutine, which a decorated async function gives.
    (value,) = await anyio.to_thread.run_sync(
        lambda: (call(),), abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
    )
    return value


async def _result(invocation: ToolInvocation, value: object) -> ToolResult:
    if isinstance(value, ToolResult):
        return value
    output, attachments = take_apart(value)
    kept = [await attach(invocation, attachment) for attachment in attachments]
    call_id = invocation.call.id
    if output is None:
        return ToolResult.succeeded(call_id, None, *kept)
    try:
        text = _json(output)
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        message = f"the tool returned a {type(output).__name__}, which has no JSON form"
        raise ToolFailedError("invalid_tool_result", message) from error
    if len(text) <= invocation.max_inline_output_bytes:
        return ToolResult(call_id, ToolStatus.SUCCEEDED, text.decode(), artifacts=tuple(kept))
    return await _kept_outside(invocation, text, kept)


def _json(output: object) -> bytes:
    """JSON of what a function returned; half a character, as odd file names have, is U+FFFD."""
    value = list(cast("Iterator[object]", output)) if isinstance(output, Iterator) else output
    try:
        return to_json(value, inf_nan_mode="strings", bytes_mode="base64")
    except PydanticSerializationError:
        plain = to_jsonable_python(value, inf_nan_mode="strings", bytes_mode="base64")
        return replace_lone_surrogates(dumps(plain)).encode()


async def _kept_outside(
    invocation: ToolInvocation, output: bytes, kept: list[ArtifactMetadata]
) -> ToolResult:
    """Keep a long output as an artifact and show how it begins."""
    most = invocation.max_inline_output_bytes
    if invocation.artifacts is None:
        message = f"the result has {len(output)} bytes, at most {most} fit; ask for less"
        raise ToolFailedError("result_too_large", message)
    name = f"{invocation.call.name}.json"
    metadata = await attach(invocation, Attachment(output, "application/json", name))
    text = output.decode()
    note = (
        f"[only the beginning is shown; the whole result is artifact {metadata.id}, "
        f"{len(output)} bytes]"
    )
    shown = fit(lambda size: f"{text[: size // 4]}…\n{note}", most, most)
    return ToolResult.succeeded(invocation.call.id, shown, *kept, metadata)


@overload
def function_tool(function: Callable[P, R], /) -> FunctionTool[P, R]: ...
@overload
def function_tool(
    *,
    name: str | None = None,
    description: str | None = None,
    timeout_seconds: float | None = None,
    parallel_safe: bool = False,
    effect: Effect = Effect.IRREVERSIBLE,
    deferred: bool = False,
    strict: bool = False,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...
def function_tool(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    timeout_seconds: float | None = None,
    parallel_safe: bool = False,
    effect: Effect = Effect.IRREVERSIBLE,
    deferred: bool = False,
    strict: bool = False,
) -> FunctionTool[P, R] | Callable[[Callable[P, R]], FunctionTool[P, R]]:
    """Make a tool of a sync or async function; usable bare or with options.

    ```python
    @function_tool(parallel_safe=True, effect=Effect.PURE)
    async def add(a: int, b: int) -> int:
        \"\"\"Add two integers.\"\"\"
        return a + b
    ```

    The argument schema comes from the annotations, descriptions from the docstring (Google, NumPy
    or Sphinx style). A parameter annotated `ToolInvocation` receives the invocation and is hidden
    from the model. A sync function runs in a worker thread. What it returns becomes the output, as
    JSON; a ToolResult stays unchanged; an Attachment becomes an artifact.
    Raise `ToolFailedError` to tell the model what to change: of any other exception it is told the
    type alone.

    Args:
        function: the function, when used bare.
        name: what the model calls; the function's name by default.
        description: what the model reads; the docstring without its sections by default.
        timeout_seconds: how long one call may take.
        parallel_safe: whether it may run beside other calls.
        effect: the worst it can do; assumed irreversible unless stated.
        deferred: show it to the model only once it has found it with `tool_search`.
        strict: let the provider hold the model to the schema, where it can; every parameter must
            then be one without a default. See `ToolDefinition.strict`.

    Raises:
        ToolDeclarationError: the function cannot be shown to a model as it is written.
    """

    def declare(function: Callable[P, R]) -> FunctionTool[P, R]:
        return FunctionTool(
            function,
            name=name,
            description=description,
            timeout_seconds=timeout_seconds,
            parallel_safe=parallel_safe,
            effect=effect,
            deferred=deferred,
            strict=strict,
        )

    return declare if function is None else declare(function)
