"""A conversation from elsewhere becomes a Session that goes on like any other."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentslot import Module
from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.model import ModelConfig
from agentslot.model.testing import ScriptedModule, text_answer
from agentslot.session import (
    SESSION_STORE,
    AgentId,
    ClassifiedError,
    FileStore,
    FileStoreModule,
    MemoryStore,
    Message,
    NewSession,
    RunFact,
    SessionId,
    ToolCall,
    ToolResult,
    WorkspaceId,
    import_chat,
)
from agentslot.standardagent import new_application

MODEL = ModelConfig("test", "scripted")
NEW = NewSession(SessionId("old"), AgentId("clerk"), WorkspaceId("default"), MODEL)


def calls(*ids: str, content: str | None = None) -> dict[str, Any]:
    function = {"name": "add", "arguments": '{"a": 2, "b": 2}'}
    asked = [{"id": each, "type": "function", "function": function} for each in ids]
    return {"role": "assistant", "content": content, "tool_calls": asked}


def result(call: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Good morning."},
    {"role": "user", "content": [{"type": "text", "text": "What is 2+2?"}]},
    calls("c1", "c2"),
    result("c2", "four"),
    result("c1", "4"),
    {"role": "assistant", "content": "It is 4.", "refusal": None},
    {"role": "user", "content": "And again?"},
    calls("c1", content="Let me see."),
]


def shown(inputs: Sequence[object]) -> list[str]:
    told = list[str]()
    for each in inputs:
        match each:
            case Message(role=role, text=text):
                told.append(f"{role}: {text}")
            case ToolCall(name=name, correlation_id=token):
                told.append(f"{token}: {name}")
            case ToolResult(status=status, output=output):
                told.append(f"{status}: {output}")
            case _:
                raise AssertionError(each)
    return told


async def test_a_conversation_goes_on_where_it_was_left(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    async with FileStore(folder) as store:
        await import_chat(store, NEW, TALK)
    channel, model = InProcessChannel(), ScriptedModule(text_answer("Still 4."))
    application = new_application(
        "clerk",
        modules=[FileStoreModule(folder), model, gateway_channel("api", channel)],
        default_model=MODEL,
    )
    async with application.start():
        session = await channel.resume_session("old")
        assert session.repairs == ()
        outcome = await session.send_and_wait("So?")
        ends = [
            fact.payload.status
            for fact in (await session.view()).recent_history
            if isinstance(fact.payload, RunFact) and fact.payload.status != "started"
        ]
    assert outcome.text == "Still 4."
    assert ends == ["completed", "interrupted", "completed"]
    assert shown(model.requests[0].inputs) == [
        "user: Good morning.",
        "user: What is 2+2?",
        "assistant: ",
        "c1: add",
        "c2: add",
        'succeeded: "4"',
        'succeeded: "four"',
        "assistant: It is 4.",
        "user: And again?",
        "assistant: Let me see.",
        "c1: add",
        "outcome_unknown: None",
        "user: So?",
    ]


async def test_it_can_be_taken_back_message_by_message() -> None:
    store, channel = MemoryStore(), InProcessChannel()
    await import_chat(store, NEW, TALK)
    application = new_application(
        "clerk",
        modules=[
            Module("store", SESSION_STORE.set(store)),
            ScriptedModule(text_answer("Five.")),
            gateway_channel("api", channel),
        ],
        default_model=MODEL,
    )
    async with application.start():
        session = await channel.resume_session("old")
        _, answered = await session.retry_with("And 2+3?")
    assert answered.text == "Five."


@pytest.mark.parametrize("greeting", [True, False])
async def test_one_that_an_assistant_begins_or_that_is_empty_is_fine(greeting: bool) -> None:
    said = [{"role": "assistant", "content": "Hello, I am here."}] if greeting else []
    state = await import_chat(MemoryStore(), NEW, said)
    assert state.active_run is None
    texts = [each.payload.text for each in state.history if isinstance(each.payload, Message)]
    assert texts == (["Hello, I am here."] if greeting else [])


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"role": "robot", "content": "hi"}, "message 2 .* role: Input should be 'system'"),
        ({"content": "hi"}, "role: Field required"),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
            "message 2 .* content.0.type: Input should be 'text'",
        ),
        (result("c9", "4"), "result of call 'c9', and the calls that wait for one are: none"),
        ({"role": "user", "content": "half \ud83c"}, "half a surrogate"),
    ],
)
async def test_what_cannot_be_brought_in_is_told_by_its_place(
    wrong: Mapping[str, object], why: str
) -> None:
    store = MemoryStore()
    with pytest.raises(ClassifiedError, match=why):
        await import_chat(store, NEW, [{"role": "user", "content": "hi"}, wrong])
    assert (await store.list_sessions(NEW.agent, NEW.workspace)).sessions == []


async def test_a_second_result_of_a_call_is_refused() -> None:
    talk = [calls("c1", "c2"), result("c1", "4"), result("c1", "5")]
    with pytest.raises(ClassifiedError, match=r"message 3 .* the calls that wait for one are: c2"):
        await import_chat(MemoryStore(), NEW, talk)
