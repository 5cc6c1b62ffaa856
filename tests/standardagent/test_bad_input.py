"""What no store could keep is refused where it comes in."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentslot import Module
from agentslot.interaction import CreateSession, ForkSession
from agentslot.model import (
    AttemptOutcome,
    AttemptRecorder,
    Completed,
    Completion,
    ModelEvent,
    ModelRequest,
    RequestedCall,
    Reset,
    TextDelta,
    TokenBudget,
)
from agentslot.session import (
    AgentId,
    AttemptId,
    AttemptStatus,
    ClassifiedError,
    FileStoreModule,
    MemoryStoreModule,
    ModelAttempt,
    SqliteStoreModule,
    TextPart,
    TokenUsage,
    ToolError,
    ToolResult,
    ToolStatus,
    WorkspaceId,
    is_safe_line,
)
from agentslot.standardagent import AgentConfig
from agentslot.tool import ToolFailedError, ToolInvocation, function_tool
from tests.standardagent.agents import Answer, ScriptedModel, agent, answer, call, calls, kinds
from tests.standardagent.test_resume import resumed

_SAID = Completion((TextPart("hi"),))


def untyped(value: object) -> Any:
    """What code without types gives, whatever is wanted of it."""
    return value


@pytest.mark.parametrize("store", [MemoryStoreModule, FileStoreModule, SqliteStoreModule])
async def test_what_no_store_could_keep_is_refused_at_the_edge_and_the_session_goes_on(
    store: Callable[..., Module], tmp_path: Path
) -> None:
    place = () if store is MemoryStoreModule else (tmp_path / "sessions",)
    script = [answer("one"), answer("two")]
    async with agent(script, store=lambda: store(*place)) as session:
        with pytest.raises(ClassifiedError, match=r"\$\.parts\[0\]\.text") as caught:
            await session.send_and_wait("half \ud83c")
        assert caught.value.code == "text_not_unicode"
        for content in (b"bytes", [3]):
            with pytest.raises(ValueError, match="a message consists of parts, not of int"):
                await session.send_and_wait(content)
        for other in ({"role": "user", "content": "hi"}, None, 3, {"hi"}):
            with pytest.raises(TypeError, match=r"a list of these, not (dict|NoneType|int|set)"):
                await session.send_and_wait(other)
        for given in ("", " 1", 3):
            with pytest.raises(ValueError, match="client message id must be a trimmed"):
                await session.send_and_wait("hi", client_message_id=given)
        with pytest.raises(ClassifiedError, match="the agent id holds half a surrogate pair"):
            await session.access.create_session(
                CreateSession(AgentId("\ud83c"), WorkspaceId("default"))
            )
        await session.send_and_wait("hi", client_message_id="3")
        await session.close()
        await session.access.resume_session(session.id)
        assert (await session.send_and_wait("again")).text == "two"


@pytest.mark.parametrize(
    ("answered", "problem"),
    [
        (Completion((untyped("hi"),)), "a part of the answer is of type str"),
        (
            Completion((TextPart(untyped(None)),)),
            "the text of a TextPart is no text but of type NoneType",
        ),
        (
            Completion((), (RequestedCall(untyped(None), "look", "{}"),)),
            "the token of a tool call is no",
        ),
        (
            Completion((), (RequestedCall("1", untyped(None), "{}"),)),
            "the name of a tool call is no text",
        ),
        (
            Completion((), (RequestedCall("1", "look", untyped({})),)),
            "arguments of a tool call is no text",
        ),
        (
            Completion((TextPart("hi"),), continuation=untyped({})),
            "the continuation is no text but of",
        ),
        (
            Completion((TextPart("hi"),), continuation='{"a":[1,{"b":2,"b":3}]}'),
            "the continuation is no JSON value: duplicate member at $.a[1].b",
        ),
        (
            Completion((TextPart("hi"),), continuation='{"a":NaN}'),
            "the continuation is no JSON value: NaN and Infinity are no JSON at $.a",
        ),
        (Completion(()), "the answer has neither parts nor calls"),
    ],
)
async def test_an_answer_of_wrong_types_fails_its_run_and_leaves_nothing_behind(
    answered: Completion, problem: str
) -> None:
    async with agent([Answer(answered), answer("fine")]) as session:
        result = await session.send_and_wait("go")
        assert result.termination.code == "model_stream_invalid"
        assert problem in result.termination.message
        said = kinds((await session.view()).recent_history)
        assert said[-2:] == ["model_attempt:succeeded", "run:failed"]
        assert (await session.send_and_wait("again")).text == "fine"


Play = Callable[[AttemptId], list[ModelEvent]]


class _Own:
    """A stream that plays what it is given, behind one attempt."""

    def __init__(self, recorder: AttemptRecorder, events: Play) -> None:
        self._recorder = recorder
        self._make = events
        self._events: list[ModelEvent] | None = None

    async def receive(self) -> ModelEvent:
        if self._events is None:
            attempt_id = await self._recorder.started()
            usage = TokenUsage(1, 1, total=2)
            await self._recorder.finished(
                attempt_id,
                AttemptOutcome(
                    AttemptStatus.FAILED,
                    usage,
                    error_code="broken",
                    error_message="a\nb\u202e" + "c" * 2000,
                ),
            )
            self._events = self._make(attempt_id)
        if not self._events:
            raise anyio.EndOfStream
        return self._events.pop(0)

    async def aclose(self) -> None:
        pass


VIOLATIONS: list[tuple[Play, str]] = [
    (
        lambda it: [Completed(it, _SAID), TextDelta(it, "more")],
        "after the terminal event came a TextDelta",
    ),
    (
        lambda it: [Completed(it, _SAID), Completed(it, _SAID)],
        "after the terminal event came a Completed",
    ),
    (lambda _: [Completed(AttemptId(""), _SAID)], "an event names no attempt, but ''"),
    (lambda _: [TextDelta(untyped(None), "hi")], "an event names no attempt, but None"),
    (lambda _: [Reset(AttemptId(" 1"))], "an event names no attempt, but ' 1'"),
]


@pytest.mark.parametrize(("events", "problem"), VIOLATIONS)
async def test_a_stream_that_breaks_the_order_of_events_fails_its_run_and_leaves_nothing_behind(
    events: Play, problem: str
) -> None:
    class Own(ScriptedModel):
        def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> Any:
            return _Own(recorder, events)

    async with agent([], model=Own) as session:
        result = await session.send_and_wait("go")
        assert (result.termination.source, result.termination.code) == (
            "model",
            "model_stream_invalid",
        )
        assert problem in result.termination.message
        facts = (await session.view()).recent_history
        assert kinds(facts)[-2:] == ["model_attempt:failed", "run:failed"]


async def test_what_a_provider_says_of_a_failure_is_kept_as_one_safe_line() -> None:
    class Own(ScriptedModel):
        def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> Any:
            return _Own(recorder, lambda it: [Completed(it, _SAID)])

    async with agent([], model=Own) as session:
        await session.send_and_wait("go")
        facts = (await session.view()).recent_history
    (ended,) = (
        fact.payload.error_message
        for fact in facts
        if isinstance(fact.payload, ModelAttempt) and fact.payload.error_message
    )
    assert ended.startswith("a b c")
    assert is_safe_line(ended, 1024)


@pytest.mark.parametrize(
    "outcome",
    [
        {"served_model": None},
        {"provider_request_id": 5},
        {"usage": TokenUsage(input=untyped(1.5), output=1, total=3)},
    ],
    ids=str,
)
async def test_an_attempt_that_could_not_be_read_again_fails_its_run_and_the_session_opens(
    outcome: dict[str, Any], tmp_path: Path
) -> None:
    class Untyped(ScriptedModel):
        """An executor that says something of its attempts that it should not."""

        def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> Any:
            return super().execute(request, _Says(recorder, outcome))

    async with agent(
        [answer("one")], model=Untyped, store=lambda: FileStoreModule(tmp_path)
    ) as session:
        result = await session.send_and_wait("go")
        assert result.termination.code == "wrong_type"
        session_id = session.id
    async with resumed(tmp_path, session_id, [answer("two")]) as session:
        assert (await session.send_and_wait("again")).text == "two"


CONTRADICTIONS = [
    TokenUsage(input=-1, output=1, total=5),
    TokenUsage(input=2, output=-1, total=5),
    TokenUsage(input=10, output=5, total=14),
    TokenUsage(input=10, output=5, total=15, cached_input=11),
    TokenUsage(input=10, output=5, total=15, cached_input=-1),
    TokenUsage(input=10, output=5, total=15, cache_write=11),
    TokenUsage(input=10, output=5, total=15, cache_write=1, cache_write_1h=2),
    TokenUsage(input=10, output=5, total=15, reasoning=6),
    TokenUsage(input=untyped(None), output=5, total=15),
]


@pytest.mark.parametrize("usage", CONTRADICTIONS, ids=str)
async def test_token_figures_that_contradict_each_other_fail_their_run(usage: TokenUsage) -> None:
    class Miscounting(ScriptedModel):
        def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> Any:
            says = {} if len(self.requests) else {"usage": usage}
            return super().execute(request, _Says(recorder, says))

    async with agent([answer("one"), answer("two")], model=Miscounting) as session:
        result = await session.send_and_wait("go")
        assert result.termination.code == "invalid_usage"
        assert "has token figures that contradict each other" in result.termination.message
        facts = (await session.view()).recent_history
        assert kinds(facts)[-2:] == ["model_attempt:outcome_unknown", "run:failed"]
        assert (await session.send_and_wait("again")).text == "two"


async def test_attempts_whose_end_nobody_reports_have_one_when_their_run_completes(
    tmp_path: Path,
) -> None:
    class Silent(ScriptedModel):
        """An executor that says nothing of how its attempts end."""

        def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> Any:
            return super().execute(request, _NeverEnds(recorder, {}))

    script = [calls(call("look")), answer("ok"), answer("more")]
    store = partial(FileStoreModule, tmp_path)
    async with agent(script, tools=[look], model=Silent, store=store) as session:
        result = await session.send_and_wait("go")
        assert (result.status, result.text) == ("completed", "ok")
        facts = (await session.view()).recent_history
        lost = ["model_attempt:outcome_unknown"] * 2
        assert kinds(facts)[-3:] == [*lost, "run:completed"]
        attempts = [fact for fact in facts if isinstance(fact.payload, ModelAttempt)]
        first, second, first_end, second_end = attempts
        assert (first.step_id, second.step_id) == (first_end.step_id, second_end.step_id)
        session_id = session.id
    async with resumed(tmp_path, session_id, [answer("again")]) as session:
        assert (await session.send_and_wait("more")).text == "again"


@pytest.mark.parametrize(
    "members",
    [
        {"status": "succeeded"},
        {"output": {"a": 1}},
        {"output": "half \ud83c"},
        {"output": "plain text"},
        {"output": ""},
        {"output": '{"a":'},
        {"output": "NaN"},
        {"status": ToolStatus.FAILED, "error": ToolError("", "message")},
        {"status": ToolStatus.FAILED, "error": ToolError("code", "")},
        {"status": ToolStatus.FAILED, "error": "boom"},
        {"status": ToolStatus.FAILED, "error": ToolError("code", untyped(None))},
        {"status": ToolStatus.FAILED, "error": ToolError("code", "half \ud83c")},
        {"artifacts": ("a",)},
        {"artifacts": None},
        {"terminate": "no"},
    ],
    ids=str,
)
async def test_a_result_of_wrong_types_is_a_failure_that_the_model_reads(
    members: dict[str, Any], tmp_path: Path
) -> None:
    class Untyped:
        """A tool that gives what it should not."""

        definition, effect, parallel_safe, deferred = look.definition, look.effect, False, False

        async def invoke(self, invocation: ToolInvocation) -> ToolResult:
            good: dict[str, Any] = {"call_id": invocation.call.id, "status": ToolStatus.SUCCEEDED}
            return ToolResult(**good | members)

    script = [calls(call("look")), answer("ok")]
    async with agent(script, tools=[Untyped()], store=lambda: FileStoreModule(tmp_path)) as session:
        assert (await session.send_and_wait("go")).text == "ok"
        returned = session.executor.requests[1].inputs[-1]
    assert returned.error.code == "invalid_tool_result"


async def test_the_inline_limit_counts_what_a_failure_says() -> None:
    @function_tool
    async def fail() -> str:
        """Fail with many words."""
        raise ToolFailedError("failed", "x" * 2000)

    config = AgentConfig(tool_keys=("fail",), max_inline_tool_result_bytes=1000)
    async with agent([calls(call("fail")), answer("ok")], tools=[fail], config=config) as session:
        await session.send_and_wait("go")
        returned = session.executor.requests[1].inputs[-1]
    assert returned.error.code == "result_too_large"


@function_tool
async def look() -> str:
    """Look."""
    return "seen"


class _Says:
    def __init__(self, recorder: AttemptRecorder, outcome: dict[str, Any]) -> None:
        self._recorder = recorder
        self._outcome = outcome

    async def started(self) -> AttemptId:
        return await self._recorder.started()

    def budget(self) -> TokenBudget:
        return self._recorder.budget()

    async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        await self._recorder.finished(attempt_id, replace(outcome, **self._outcome))


class _NeverEnds(_Says):
    async def finished(self, attempt_id: AttemptId, outcome: AttemptOutcome) -> None:
        pass


async def test_a_fork_of_no_mode_is_refused_with_the_modes_that_there_are() -> None:
    async with agent([]) as session:
        fork = ForkSession(session.id, untyped("whole"), AgentId("tester"), WorkspaceId("default"))
        with pytest.raises(ClassifiedError, match="'full_history' or 'history_prefix'") as caught:
            await session.access.fork_session(fork)
    assert caught.value.code == "invalid_fork_mode"
