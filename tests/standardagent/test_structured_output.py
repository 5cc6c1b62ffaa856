"""Answers in a wanted form, through the whole agent: asked for in each way on each wire."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from pydantic import BaseModel

from agentslot import Module
from agentslot.interaction import (
    AnswerInvalidError,
    ApprovalRequested,
    ChannelSession,
    InProcessChannel,
    SendMessage,
    TextChunk,
    gateway_channel,
)
from agentslot.model import MODEL_EXECUTOR, ModelRequest
from agentslot.model.testing import MemoryRecorder
from agentslot.model.wires.openai_completions import OpenAICompletionsWire
from agentslot.session import (
    FileStore,
    FileStoreModule,
    MemoryStoreModule,
    MessageInput,
    OutputFormat,
    OutputStrategy,
    ReasoningPart,
)
from agentslot.standardagent import (
    AgentConfig,
    ApprovalDeskModule,
    ContextRetention,
    PolicyModule,
    Preset,
    new_application,
    rebuilt_request,
)
from agentslot.tool import Effect, ToolsModule, function_tool
from tests.loopback import Answer, Loopback, loopback
from tests.model.answering import answer
from tests.model.stages import VENDORS
from tests.model.support import application
from tests.model.vendors import VENDORS as READERS
from tests.standardagent import agents
from tests.standardagent.test_resume import crash, resumed

WIRES = sorted(VENDORS)
READ = {
    "openai-completions": READERS["chat"].read,
    "anthropic-messages": READERS["claude"].read,
    "openai-responses": READERS["gpt"].read,
    "google-generative-ai": READERS["gemini"].read,
    "ollama-chat": READERS["ollama"].read,
}
ULM: dict[str, Any] = {"name": "Ulm", "people": 126_000}
ULM_TEXT = json.dumps(ULM)


class City(BaseModel):
    name: str
    people: int


CITY = OutputFormat(json.dumps(City.model_json_schema()), "City")


@function_tool
async def census(city: str) -> int:
    """Count the people of a city."""
    return 126_000 if city == "Ulm" else 0


@asynccontextmanager
async def asking(
    wire: str, *said: bytes, tools: Sequence[str] = (), store: Module | None = None, **config: Any
) -> AsyncGenerator[tuple[ChannelSession, Loopback]]:
    """A Session of an agent in front of a vendor that says these things in turn."""
    vendor, channel = VENDORS[wire], InProcessChannel()
    async with loopback(
        *(Answer(body, content_type=vendor.content_type) for body in said)
    ) as server:
        agent = new_application(
            "test",
            modules=[
                store or MemoryStoreModule(),
                vendor.module(server.url),
                ToolsModule(census),
                gateway_channel("test", channel),
            ],
            config=AgentConfig(tool_keys=tuple(tools), **config),
            default_model=vendor.config,
        )
        with anyio.fail_after(20):
            async with agent.start():
                yield await channel.create_session(agent="test", workspace="w"), server


def wanted_natively(body: dict[str, Any]) -> Any:
    """The schema that the vendor itself is to keep, wherever its request has it."""
    chat = body.get("response_format", {}).get("json_schema", {})
    claude = body.get("output_config", {}).get("format", {})
    gpt = body.get("text", {}).get("format", {})
    gemini = body.get("generationConfig", {}).get("responseJsonSchema")
    found = (chat.get("schema"), claude.get("schema"), gpt.get("schema"), gemini)
    return next(filter(None, (*found, body.get("format"))), None)


def tool_names(body: dict[str, Any]) -> list[str]:
    flat = [t for tool in body.get("tools", []) for t in tool.get("functionDeclarations", [tool])]
    return [tool.get("function", tool)["name"] for tool in flat]


@pytest.mark.parametrize("wire", [w for w in WIRES if w != "openai-completions"])
async def test_a_model_that_can_is_held_to_the_schema_by_its_vendor(wire: str) -> None:
    async with asking(wire, answer(wire, ULM_TEXT)) as (session, server):
        typed = await session.send_and_wait("Which city?", output=City)
        body = server.requests[0].json()
    assert typed.value == City(**ULM)
    schema = wanted_natively(body)
    assert schema["properties"]["people"]["type"] == "integer"
    assert schema["required"] == ["name", "people"]
    assert tool_names(body) == []
    [said] = READ[wire](body)
    assert said.text == "Which city?"


@pytest.mark.parametrize("wire", WIRES)
async def test_a_tool_that_nobody_runs_can_bring_the_answer(wire: str) -> None:
    said = answer(wire, "Here it is.", ("final_answer", ULM)), answer(wire, "You're welcome.")
    async with asking(wire, *said) as (session, server):
        typed = await session.send_and_wait(
            "Which city?", output=City, strategy=OutputStrategy.TOOL
        )
        await session.send_and_wait("Thanks.")
        asked, then = (request.json() for request in server.requests)
        facts = (await session.view()).recent_history
    assert typed.value == City(**ULM)
    assert tool_names(asked) == ["final_answer"]
    assert wanted_natively(asked) is None
    assert tool_names(then) == []
    assert [fact.kind for fact in facts].count("tool_call") == 0
    told = [(each.role, each.text, each.calls) for each in READ[wire](then)]
    assert [role for role, _, _ in told] == ["user", "assistant", "user"]
    assert json.loads(told[1][1]) == ULM
    [given] = typed.result.messages
    assert ReasoningPart("Here it is.") in given.parts  # beside the answer, and no part of it


@pytest.mark.parametrize(
    ("wire", "forced"),
    [
        ("openai-completions", {"tool_choice": "required"}),
        ("openai-responses", {"tool_choice": "required"}),
        ("anthropic-messages", {"tool_choice": {"type": "any"}}),
        ("google-generative-ai", {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}),
    ],
)
async def test_the_tool_must_be_called_where_the_vendor_can_force_it(
    wire: str, forced: dict[str, Any]
) -> None:
    said = answer(wire, "", ("final_answer", ULM)), answer(wire, "hi")
    async with asking(wire, *said) as (session, server):
        await session.send_and_wait("?", output=City, strategy=OutputStrategy.TOOL)
        await session.send_and_wait("?")
        asked, then = (request.json() for request in server.requests)
    [(member, value)] = forced.items()
    assert asked[member] == value
    assert member not in then


@pytest.mark.parametrize("wire", WIRES)
async def test_any_model_can_be_told_in_words(wire: str) -> None:
    said = answer(wire, f"```json\n{ULM_TEXT}\n```"), answer(wire, "You're welcome.")
    async with asking(wire, *said) as (session, server):
        prompted = OutputStrategy.PROMPTED
        typed = await session.send_and_wait("Which city?", output=City, strategy=prompted)
        await session.send_and_wait("Thanks.")
        asked, then = (request.json() for request in server.requests)
    assert typed.value == City(**ULM)
    assert wanted_natively(asked) is None
    assert tool_names(asked) == []
    assert '"people"' in READ[wire](asked)[-1].text
    assert "JSON Schema" not in server.requests[1].body.decode()
    assert READ[wire](then)[-1].text == "Thanks."


@pytest.mark.parametrize("wire", WIRES)
async def test_tools_run_before_the_answer_is_given(wire: str) -> None:
    """Also if the model gives it too early, beside the call whose result it needs."""
    look: tuple[str, dict[str, Any]] = ("census", {"city": "Ulm"})
    guess = ("final_answer", {"name": "Ulm", "people": 1})
    said = answer(wire, "", guess, look), answer(wire, "", ("final_answer", ULM))
    async with asking(wire, *said, tools=["census"]) as (session, server):
        tool = OutputStrategy.TOOL
        typed = await session.send_and_wait("Which city?", output=City, strategy=tool)
        then = server.requests[1].json()
        facts = (await session.view()).recent_history
    assert typed.value == City(**ULM)
    assert tool_names(then) == ["census", "final_answer"]
    assert [f.kind for f in facts if f.kind.startswith("tool_")] == ["tool_call", "tool_result"]
    question, call, result = READ[wire](then)
    assert question.text == "Which city?"
    assert [name for name, _ in call.calls] == ["census"]
    assert result.text == "126000"


async def test_a_vendor_that_cannot_hold_a_model_with_tools_to_a_schema_is_not_asked_to() -> None:
    said = answer("ollama-chat", "", ("final_answer", ULM))
    async with asking("ollama-chat", said, tools=["census"]) as (session, server):
        assert (await session.send_and_wait("?", output=City)).value == City(**ULM)
        body = server.requests[0].json()
    assert "format" not in body
    assert tool_names(body) == ["census", "final_answer"]


async def test_a_value_that_is_no_object_is_asked_for_inside_of_one() -> None:
    said = answer("openai-responses", '{"value": [1, 2]}')
    async with asking("openai-responses", said) as (session, server):
        assert (await session.send_and_wait("Count.", output=list[int])).value == [1, 2]
        schema = wanted_natively(server.requests[0].json())
    assert schema["properties"]["value"]["items"] == {"type": "integer"}
    assert schema["additionalProperties"] is False


async def test_a_type_that_leaves_a_member_out_is_asked_for_in_full() -> None:
    """OpenAI refuses a strict schema that is open, or lets a member be left out."""

    class Trip(BaseModel):
        city: str
        days: int = 1

    said = answer("openai-responses", '{"city": "Ulm", "days": 2}')
    async with asking("openai-responses", said) as (session, server):
        assert (await session.send_and_wait("Where?", output=Trip)).value.days == 2
        form = server.requests[0].json()["text"]["format"]
    assert form["strict"] is True
    assert form["schema"]["required"] == ["city", "days"]
    assert form["schema"]["additionalProperties"] is False


async def test_a_type_that_no_vendor_can_be_held_to_is_asked_for_by_a_tool() -> None:
    said = answer("openai-responses", "", ("final_answer", {"Ulm": 1}))
    async with asking("openai-responses", said) as (session, server):
        counted = await session.send_and_wait("Count.", output=dict[str, int])
        body = server.requests[0].json()
    assert counted.value == {"Ulm": 1}
    assert tool_names(body) == ["final_answer"]
    assert wanted_natively(body) is None


async def test_a_way_that_a_model_has_not_is_refused_before_anything_is_sent() -> None:
    async with asking("openai-completions", b"") as (session, server):
        with pytest.raises(AnswerInvalidError) as caught:
            await session.send_and_wait("?", output=City, strategy=OutputStrategy.NATIVE)
        assert server.requests == []
    termination = caught.value.result.termination
    assert termination is not None
    assert termination.code == "output_strategy_not_supported"
    assert "openai/m has no native output, only tool, prompted" in termination.message


async def test_after_wrong_answers_it_fails_with_what_was_wrong() -> None:
    wrong = answer("anthropic-messages", '{"name": "Ulm"}')
    async with asking("anthropic-messages", wrong) as (session, server):
        with pytest.raises(AnswerInvalidError, match="people: Field required"):
            await session.send_and_wait("Which city?", output=City)
        first, second = (request.json() for request in server.requests)
    assert wanted_natively(first) == wanted_natively(second)
    assert "people: Field required" in READ["anthropic-messages"](second)[-1].text


async def test_who_listens_sees_the_answer_of_the_tool_as_text() -> None:
    said = answer("openai-completions", "", ("final_answer", ULM))
    async with asking("openai-completions", said) as (session, _), session.events() as events:
        await session.send_and_wait("Which city?", output=City)
        seen = ""
        while not seen:
            event = await events.receive()
            seen = event.text if isinstance(event, TextChunk) else ""
    assert json.loads(seen) == ULM


async def test_the_conversation_goes_on_with_another_vendor_and_its_own_way() -> None:
    """First by a tool of one vendor, then held to the schema by another one."""
    gpt, local = VENDORS["openai-completions"], VENDORS["ollama-chat"]
    channel = InProcessChannel()
    async with (
        loopback(Answer(answer("openai-completions", "", ("final_answer", ULM)))) as first,
        loopback(Answer(answer("ollama-chat", ULM_TEXT))) as second,
    ):
        agent = new_application(
            "test",
            modules=[
                MemoryStoreModule(),
                gpt.module(first.url),
                local.module(second.url),
                gateway_channel("test", channel),
            ],
            default_model=gpt.config,
        )
        async with agent.start():
            session = await channel.create_session(agent="test", workspace="w")
            assert (await session.send_and_wait("Which city?", output=City)).value.people == 126_000
            await session.update_model_config(local.config)
            assert (await session.send_and_wait("Again.", output=City)).value.people == 126_000
    body = second.requests[0].json()
    assert body["format"]["title"] == "City"
    assert [said.text for said in READ["ollama-chat"](body)] == ["Which city?", ULM_TEXT, "Again."]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("retention", ContextRetention)
async def test_what_was_asked_can_be_made_again_byte_for_byte(
    retention: ContextRetention, wire: str, tmp_path: Path
) -> None:
    look: tuple[str, dict[str, Any]] = ("census", {"city": "Ulm"})
    final = ("final_answer", ULM)
    by_tool = answer(wire, "", look), answer(wire, "", final)
    wrong = answer(wire, '{"name": "Ulm"}')
    said = (*by_tool, wrong, *[answer(wire, ULM_TEXT)] * 2, answer(wire, "You're welcome."))
    more = {"tools": ["census"], "context_retention": retention}
    async with asking(wire, *said, store=FileStoreModule(tmp_path), **more) as (session, server):
        ways = OutputStrategy
        await session.send_and_wait("Which city?", output=City, strategy=ways.TOOL)
        await session.send_and_wait("Again.", output=City, strategy=ways.PROMPTED)
        await session.send_and_wait("And again.", output=City)
        await session.send_and_wait("Thanks.")
        sent = [request.body for request in server.requests]
    by_vendor = wanted_natively(json.loads(sent[4])) is not None
    assert by_vendor is (wire not in {"openai-completions", "ollama-chat"})
    async with FileStore(tmp_path) as stored:
        state = (await stored.load(session.id)).state
    assert state.context is not None
    views = [*state.retained_contexts, state.context]
    assert len(views) == (6 if retention is ContextRetention.RETAIN_ALL else 1)
    assert (
        await _asked_again(wire, [rebuilt_request(state, view) for view in views])
        == (sent[-len(views) :])
    )


@pytest.mark.parametrize("strategy", [None, OutputStrategy.PROMPTED])
@pytest.mark.parametrize("retention", ContextRetention)
async def test_what_an_executor_was_told_in_words_can_be_made_again_byte_for_byte(
    retention: ContextRetention, strategy: OutputStrategy | None, tmp_path: Path
) -> None:
    script = [agents.answer("no JSON"), agents.answer(ULM_TEXT), agents.answer("bye")]
    config = AgentConfig(context_retention=retention)
    async with agents.agent(script, store=lambda: FileStoreModule(tmp_path), config=config) as it:
        await it.send_and_wait("Which city?", output=City, strategy=strategy)
        await it.send_and_wait("Thanks.")
        sent, known = it.executor.requests, it.executor.inspect(agents.MODEL)
    async with FileStore(tmp_path) as stored:
        state = (await stored.load(it.id)).state
    assert state.context is not None
    views = [*state.retained_contexts, state.context]
    assert len(views) == (3 if retention is ContextRetention.RETAIN_ALL else 1)
    again = [rebuilt_request(state, view, known) for view in views]
    assert list(map(_encoded, again)) == list(map(_encoded, sent[-len(views) :]))
    assert "JSON Schema" in sent[1].inputs[-1].text


def _encoded(request: ModelRequest) -> bytes:
    return OpenAICompletionsWire("https://example.test/v1").encode(request).body


async def _asked_again(wire: str, requests: Sequence[ModelRequest]) -> list[bytes]:
    """The bytes that another process sends for these requests."""
    vendor = VENDORS[wire]
    said = Answer(answer(wire, "hi"), content_type=vendor.content_type)
    async with (
        loopback(said) as server,
        application(vendor.module(server.url)).start() as runtime,
    ):
        for request in requests:
            stream = runtime.assembly[MODEL_EXECUTOR].execute(request, MemoryRecorder())
            with suppress(anyio.EndOfStream):
                while True:
                    await stream.receive()
        return [request.body for request in server.requests]


async def test_a_resumed_run_still_asks_for_the_form(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"

    @function_tool(effect=Effect.WRITE)
    async def note(text: str) -> str:
        """Write it down."""
        return text

    modules = [PolicyModule(Preset.ASK_FOR_WRITES), ApprovalDeskModule()]
    script = [agents.calls(agents.call("note", text="Ulm"))]
    store = lambda: FileStoreModule(folder)  # noqa: E731  # made again for each application
    async with agents.agent(script, tools=[note], modules=modules, store=store) as session:
        async with session.events() as events:
            asked = SendMessage(session.id, MessageInput.of("Which city?"), output=CITY)
            await session.access.send(asked)
            while not isinstance(event := await events.receive(), ApprovalRequested):
                pass
        image, session_id = crash(folder), session.id
    modules = [PolicyModule(Preset.ASK_FOR_WRITES), ApprovalDeskModule()]
    async with resumed(
        image, session_id, [agents.answer(ULM_TEXT)], [note], modules=modules
    ) as session:
        while not (await session.view()).approvals:
            await anyio.lowlevel.checkpoint()
        await session.approve(event.digest)
        await session.when_idle()
        [request] = session.executor.requests
    assert '"people"' in request.inputs[-1].text


async def test_a_message_that_waits_keeps_the_form_for_its_own_run() -> None:
    hold = anyio.Event()
    script = [agents.answer("a while", hold=hold), agents.answer(ULM_TEXT), agents.answer("bye")]
    async with agents.agent(script) as session:
        await session.send("Tell me a story.")
        await session.executor.streaming.wait()
        asked = SendMessage(session.id, MessageInput.of("Which city?"), output=CITY)
        await session.access.send(asked)
        hold.set()
        await session.when_idle()
        await session.send_and_wait("Thanks.")
        ends = [request.inputs[-1].text for request in session.executor.requests]
    assert ends[0] == "Tell me a story."
    assert '"people"' in ends[1]
    assert ends[2] == "Thanks."
