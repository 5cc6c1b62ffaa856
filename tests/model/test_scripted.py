"""The scripted executor keeps the order of events that every executor must keep."""

from typing import Any

import anyio
import pytest

from agentslot import Module
from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.model import (
    MODEL_MIDDLEWARE,
    Completed,
    Completion,
    ExecutionCapabilities,
    Failed,
    FinishReason,
    ModelConfig,
    ModelErrorCode,
    ModelRequest,
    Reset,
    TextDelta,
)
from agentslot.model.middleware import FallbackModel, RequestCache
from agentslot.model.testing import (
    MemoryRecorder,
    ScriptedExecutor,
    ScriptedModule,
    calls_answer,
    failing_answer,
    text_answer,
)
from agentslot.session import AttemptId, AttemptStatus, MemoryStoreModule, TextPart
from agentslot.standardagent import new_application
from tests.model.support import CONFIG, collect, request

ASK = request([])
FIRST, SECOND = AttemptId("attempt-1"), AttemptId("attempt-2")


async def test_scripts_play_first_in_first_out_and_requests_are_kept() -> None:
    executor = ScriptedExecutor(calls_answer(("add", {"a": 1}), ("raw", "{"), text="Adding."))
    executor.add(text_answer("It is 1."))
    recorder = MemoryRecorder()
    shown, completed = await collect(executor.execute(ASK, recorder))
    assert shown == TextDelta(FIRST, "Adding.")
    assert isinstance(completed, Completed)
    assert [call.arguments for call in completed.completion.calls] == ['{"a":1}', "{"]
    assert completed.completion.finish is FinishReason.TOOL_USE
    events = await collect(executor.execute(ASK, recorder))
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["It ", "is ", "1."]
    assert executor.requests == [ASK, ASK]
    assert recorder.budget().used == 30


async def test_a_retryable_failure_resets_and_takes_the_next_script() -> None:
    executor = ScriptedExecutor(
        failing_answer(ModelErrorCode.BROKEN_STREAM, retryable=True, deltas=["half"]),
        text_answer("whole"),
    )
    recorder = MemoryRecorder()
    events = await collect(executor.execute(ASK, recorder))
    assert events[:3] == [TextDelta(FIRST, "half"), Reset(FIRST), TextDelta(SECOND, "whole")]
    assert isinstance(events[-1], Completed)
    statuses = [outcome.status for outcome in recorder.outcomes.values() if outcome]
    assert statuses == [AttemptStatus.FAILED, AttemptStatus.SUCCEEDED]


async def test_a_lasting_failure_and_an_empty_script_are_terminal() -> None:
    executor = ScriptedExecutor(failing_answer(ModelErrorCode.REFUSED))
    for code in (ModelErrorCode.REFUSED, ModelErrorCode.INVALID_ANSWER):
        events = await collect(executor.execute(ASK, MemoryRecorder()))
        assert isinstance(events[-1], Failed)
        assert events[-1].error.code == code
        assert len(events) == 1


async def test_a_gate_holds_an_answer_and_leaving_it_is_recorded() -> None:
    gate = anyio.Event()
    executor = ScriptedExecutor(text_answer("hi", gate=gate), text_answer("hi", gate=gate))
    recorder = MemoryRecorder()
    stream = executor.execute(ASK, recorder)
    assert await stream.receive() == TextDelta(FIRST, "hi")
    with anyio.move_on_after(0):
        await stream.receive()
    await stream.aclose()
    outcome = recorder.outcomes[FIRST]
    assert outcome is not None
    assert outcome.status is AttemptStatus.CANCELED
    with pytest.raises(anyio.EndOfStream):
        await stream.receive()
    gate.set()
    assert len(await collect(executor.execute(ASK, recorder))) == 2


def test_capabilities_are_those_given() -> None:
    given = ExecutionCapabilities(context_window_tokens=5)
    assert ScriptedExecutor(capabilities=given).inspect(CONFIG) is given


async def test_a_scripted_module_is_all_that_an_agent_needs_of_models() -> None:
    model = ScriptedModule(text_answer("Hello."))
    channel = InProcessChannel()
    application = new_application(
        "greeter",
        modules=[MemoryStoreModule(), model, gateway_channel("api", channel)],
        default_model=CONFIG,
    )
    async with application.start():
        session = await channel.create_session(agent="greeter", workspace="default")
        assert (await session.send_and_wait("Hello?")).text == "Hello."
        missing = await session.send_and_wait("And now?")
        model.add(text_answer("Good bye."))
        assert (await session.send_and_wait("Bye.")).text == "Good bye."
    assert missing.termination is not None
    assert missing.termination.message == "no script is left for request 2"
    assert [len(request.inputs) for request in model.requests] == [1, 3, 4]


async def test_the_middleware_of_the_application_stands_before_the_scripted_model() -> None:
    channel, other = InProcessChannel(), ModelConfig("test", "other")
    model = ScriptedModule(failing_answer(ModelErrorCode.OVERLOADED), text_answer("Here I am."))
    cache = RequestCache()
    application = new_application(
        "careful",
        modules=[
            MemoryStoreModule(),
            model,
            Module(
                "test.careful",
                MODEL_MIDDLEWARE.append(cache),
                MODEL_MIDDLEWARE.append(FallbackModel(other)),
            ),
            gateway_channel("api", channel),
        ],
        default_model=CONFIG,
    )
    async with application.start():
        session = await channel.create_session(agent="careful", workspace="default")
        result = await session.send_and_wait("Are you there?")
    assert result.text == "Here I am."
    assert [asked.config for asked in model.requests] == [CONFIG, other]
    assert cache.stats.misses == 1


async def test_a_text_is_a_script_and_so_is_a_function_of_the_request() -> None:
    def counts(asked: ModelRequest) -> str:
        return f"{len(asked.inputs)} inputs"

    executor = ScriptedExecutor("Hello.", counts, lambda _: calls_answer(("add", {"a": 1})))
    completions = list[Completion]()
    for _ in range(3):
        *_, last = await collect(executor.execute(ASK, MemoryRecorder()))
        assert isinstance(last, Completed)
        completions.append(last.completion)
    texts = [
        "".join(part.text for part in each.parts if isinstance(part, TextPart))
        for each in completions
    ]
    assert texts == ["Hello.", "0 inputs", ""]
    assert [call.name for call in completions[-1].calls] == ["add"]


@pytest.mark.parametrize("wrong", [{"content": "hi"}, None, 3])
def test_anything_else_is_refused_where_it_is_written(wrong: Any) -> None:
    with pytest.raises(TypeError, match="a script is a text, what text_answer"):
        ScriptedModule(wrong)


def test_a_call_is_a_pair() -> None:
    flat: Any = ("add", {"a": 1})
    with pytest.raises(TypeError, match=r"such as \('add', \{'a': 2\}\), not 'add'"):
        calls_answer(*flat)
