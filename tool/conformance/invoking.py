"""What a tool does when it is invoked."""

import anyio

from agentslot._conformance import expect
from agentslot._json import JsonError, loads
from agentslot.session import ToolResult, ToolStatus
from agentslot.tool.conformance.calls import Check, Trial
from agentslot.tool.contract import Tool, ToolInvocation

SECONDS = 60.0
"""Longest time that one call of a trial may take."""

_BAD_ARGUMENTS = ("[]", "not json", '{"no such argument of this tool": 1}', '"text"', "{", "1")
_SMALL_BYTES = 1024
_CALLS_AT_ONCE = 5


async def the_trial_gives_a_result(tool: Tool, trial: Trial) -> None:
    """The trial succeeds, or fails if it is said to."""
    check = "the_trial_gives_a_result"
    result = await _invoke(check, tool, trial.of(tool))
    expected = ToolStatus.SUCCEEDED if trial.succeeds else ToolStatus.FAILED
    why = "" if result.error is None else f": {result.error.code}, {result.error.message}"
    expect(check, result.status is expected, f"it {result.status} instead of {expected}{why}")


async def bad_arguments_are_failures_that_say_so(tool: Tool, trial: Trial) -> None:
    """Arguments that the schema does not allow give a failed result."""
    check = "bad_arguments_are_failures_that_say_so"
    for text in _BAD_ARGUMENTS:
        result = await _invoke(check, tool, trial.of(tool, text=text))
        expect(check, result.status is ToolStatus.FAILED, f"it accepted the arguments {text}")


async def the_output_keeps_to_its_limit(tool: Tool, trial: Trial) -> None:
    """Little room makes a short result or a failure, never a longer output."""
    check = "the_output_keeps_to_its_limit"
    await _invoke(check, tool, trial.of(tool, max_bytes=_SMALL_BYTES))


async def each_call_gets_its_own_result(tool: Tool, trial: Trial) -> None:
    """Of calls that run at once if the tool is parallel-safe, else of one after the other."""
    check = "each_call_gets_its_own_result"
    numbers = range(1, _CALLS_AT_ONCE + 1)
    if not tool.parallel_safe:
        for number in numbers:
            await _invoke(check, tool, trial.of(tool, number=number))
        return
    async with anyio.create_task_group() as tasks:
        for number in numbers:
            tasks.start_soon(_invoke, check, tool, trial.of(tool, number=number))


async def a_cancelled_call_ends(tool: Tool, trial: Trial) -> None:
    """A call that is cancelled comes to an end."""
    check = "a_cancelled_call_ends"
    with anyio.move_on_after(SECONDS) as limit, anyio.CancelScope() as scope:
        scope.cancel()
        await tool.invoke(trial.of(tool))
    expect(check, not limit.cancelled_caught, f"it did not end within {SECONDS:g} seconds")


async def _invoke(check: str, tool: Tool, invocation: ToolInvocation) -> ToolResult:
    """Invoke, and look at everything that holds for all results."""
    with anyio.move_on_after(SECONDS):
        result: object = await tool.invoke(invocation)
        return _checked(check, result, invocation)
    expect(check, False, f"no result after {SECONDS:g} seconds")
    raise AssertionError("the line before raises")


def _checked(check: str, result: object, invocation: ToolInvocation) -> ToolResult:
    expect(check, isinstance(result, ToolResult), f"it returned a {type(result).__name__}")
    assert isinstance(result, ToolResult)
    call = invocation.call
    expect(check, result.call_id == call.id, f"its result is for {result.call_id}, not {call.id}")
    unknown = result.status is ToolStatus.OUTCOME_UNKNOWN
    expect(check, not unknown, "it says outcome_unknown, which only recovery may")
    if result.output is not None:
        size, limit = len(result.output.encode()), invocation.max_inline_output_bytes
        expect(check, size <= limit, f"its output has {size} bytes where {limit} are allowed")
        try:
            loads(result.output)
        except JsonError as error:
            expect(check, False, f"its output is no JSON value: {error}")
    if result.error is not None:
        named = bool(result.error.code) and bool(result.error.message)
        expect(check, named, "its error lacks a code or a message")
    ids = [artifact.id for artifact in result.artifacts]
    expect(check, len(ids) == len(set(ids)), "it names an artifact twice")
    return result


INVOCATION_CHECKS: tuple[Check, ...] = (
    the_trial_gives_a_result,
    bad_arguments_are_failures_that_say_so,
    the_output_keeps_to_its_limit,
    each_call_gets_its_own_result,
    a_cancelled_call_ends,
)
