"""A real model over the three wires that llama.cpp speaks: real bytes, real streams."""

import base64
import json
import random
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentslot._http import new_client
from agentslot.model import (
    MODEL_EXECUTOR,
    TOKEN_COUNTER,
    Completed,
    Completion,
    Failed,
    FinishReason,
    Input,
    ModelError,
    ModelErrorCode,
    ModelEvent,
    ModelExecutor,
    ModelRequest,
    TextDelta,
)
from agentslot.model.testing import MemoryRecorder
from agentslot.session import Role, TextPart, TokenUsage
from agentslot.standardagent.command.local import LocalModel
from tests.model.llama import WIRES, Tap, Wire, served
from tests.model.support import (
    application,
    collect,
    decode,
    exchange,
    message,
    remembered,
    request,
)

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300)]

FRANCE = "What is the capital of France?"
STORY = "Tell me a long story about a dragon who lives in the mountains."
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def model() -> Generator[LocalModel]:
    with served() as model:
        yield model


@pytest.fixture(params=list(WIRES.values()), ids=list(WIRES))
def wire(request: pytest.FixtureRequest) -> Wire:
    found: Wire = request.param
    return found


@dataclass
class Asked:
    """One call: its events, what was recorded of it, and the bytes that came."""

    events: list[ModelEvent]
    usage: TokenUsage | None
    served_model: str
    answer: bytes

    @property
    def completion(self) -> Completion:
        last = self.events[-1]
        assert isinstance(last, Completed), last
        return last.completion

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.completion.parts if isinstance(part, TextPart))

    @property
    def error(self) -> ModelError:
        last = self.events[-1]
        assert isinstance(last, Failed), last
        return last.error


def question(wire: Wire, inputs: str | Sequence[Input], max_tokens: int = 100) -> ModelRequest:
    """A request without chance and without tools."""
    config = replace(wire.config, temperature=0.0, max_tokens=max_tokens)
    told = [message(1, Role.USER, inputs)] if isinstance(inputs, str) else inputs
    return replace(request(told, "Be brief.", config), tools=())


@asynccontextmanager
async def executor(
    model: LocalModel, wire: Wire, tap: Tap, key: str = ""
) -> AsyncGenerator[ModelExecutor]:
    headers = {"authorization": f"Bearer {key or model.key}"}
    async with application(wire.module(model.url, headers).over(tap)).start() as runtime:
        yield runtime.assembly[MODEL_EXECUTOR]


async def ask(
    model: LocalModel,
    wire: Wire,
    asked: ModelRequest,
    members: Mapping[str, object] | None = None,
    *,
    key: str = "",
) -> Asked:
    """Ask, with `members` added to the body."""
    tap, recorder = Tap(members or {}), MemoryRecorder()
    async with executor(model, wire, tap, key) as asking:
        events = await collect(asking.execute(asked, recorder))
    (outcome,) = recorder.outcomes.values()
    assert outcome is not None
    return Asked(events, outcome.usage, outcome.served_model, tap.answer)


async def test_the_answer_is_what_the_server_sent(model: LocalModel, wire: Wire) -> None:
    asked = await ask(model, wire, question(wire, FRANCE))
    said = wire.reads(asked.answer)
    assert "Paris" in asked.text
    assert asked.text == said.text
    assert asked.text == "".join(e.text for e in asked.events if isinstance(e, TextDelta))
    assert asked.usage == TokenUsage(
        input=said.input,
        output=said.output,
        cached_input=said.cached,
        total=said.input + said.output,
    )
    assert asked.completion.finish is FinishReason.STOP
    assert asked.completion.raw_finish == said.finish != "length"
    assert model.name in asked.served_model


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog. " * 20,
        Path(__file__).read_text(encoding="utf-8")[:2_000],
        base64.b64encode(random.Random(1).randbytes(600)).decode(),
        random.Random(1).randbytes(400).hex(),
        "中文字符测试，今天天气很好。🎉" * 20,
    ],
    ids=("prose", "code", "base64", "digest", "signs"),
)
async def test_no_request_has_more_tokens_than_it_was_counted_for(
    model: LocalModel, wire: Wire, text: str
) -> None:
    asked = question(wire, text, max_tokens=1)
    counter = application(wire.module(model.url, {})).build()[TOKEN_COUNTER]
    counted = await counter.count_tokens(asked)
    reported = (await ask(model, wire, asked)).usage
    assert reported is not None
    assert reported.input <= counted.tokens


async def test_an_answer_that_reaches_its_bound_says_so(model: LocalModel, wire: Wire) -> None:
    asked = await ask(model, wire, question(wire, STORY, max_tokens=8))
    assert asked.usage is not None
    assert asked.usage.output == 8
    assert asked.completion.raw_finish == wire.bounded
    told = wire.bounded != "completed"
    assert asked.completion.finish is (FinishReason.LENGTH if told else FinishReason.STOP)


async def test_real_bytes_decode_alike_however_they_are_cut(model: LocalModel, wire: Wire) -> None:
    asked = await ask(model, wire, question(wire, STORY, max_tokens=20))
    whole, deltas = decode(asked.answer, 0, wire.decoder)
    for size in (1, 2, 7, 100):
        assert decode(asked.answer, size, wire.decoder) == (whole, deltas)
    assert whole.completion == asked.completion


async def test_an_answer_in_one_piece_is_the_streamed_one(model: LocalModel, wire: Wire) -> None:
    streamed = await ask(model, wire, question(wire, FRANCE))
    whole = await ask(model, wire, question(wire, FRANCE), {"stream": False})
    assert json.loads(whole.answer)
    assert whole.text == streamed.text
    assert whole.completion.finish is streamed.completion.finish
    assert whole.usage is not None
    assert streamed.usage is not None
    assert whole.usage.total == streamed.usage.total


async def test_a_conversation_goes_on_with_the_answer_sent_back(
    model: LocalModel, wire: Wire
) -> None:
    first = await ask(model, wire, question(wire, FRANCE))
    history = [
        message(1, Role.USER, FRANCE),
        *remembered(2, first.completion, wire.config),
        message(3, Role.USER, "What is the capital of Italy?"),
    ]
    second = await ask(model, wire, question(wire, history))
    assert "Rome" in second.text
    assert second.usage is not None
    assert first.usage is not None
    assert second.usage.input > first.usage.total


async def test_a_conversation_with_tools_is_accepted(model: LocalModel, wire: Wire) -> None:
    history = [*exchange('{"city":"Rome"}'), message(9, Role.USER, FRANCE)]
    config = replace(wire.config, temperature=0.0, max_tokens=20)
    asked = await ask(model, wire, request(history, None, config))
    assert asked.text


async def test_whoever_stops_listening_frees_the_server(model: LocalModel, wire: Wire) -> None:
    untouched = await ask(model, wire, question(wire, STORY, 200))
    assert untouched.usage is not None
    assert untouched.usage.output == 200, "too short a story to be stopped"
    tap, recorder = Tap({}), MemoryRecorder()
    async with executor(model, wire, tap) as asking:
        stream = asking.execute(question(wire, STORY, 2_000), recorder)
        for _ in range(3):
            assert isinstance(await stream.receive(), TextDelta)
        await stream.aclose()
    (outcome,) = recorder.outcomes.values()
    assert outcome is not None
    assert outcome.error_code == "canceled"
    slot = await idle_slot(model)
    assert slot["n_prompt_tokens"] < 150, "it went on without us"


async def idle_slot(model: LocalModel) -> dict[str, Any]:
    """The server's one slot, as soon as it does nothing."""
    headers = {"authorization": f"Bearer {model.key}"}
    async with new_client(idle_seconds=60) as client:
        with anyio.fail_after(120):
            while True:
                slots = (await client.get(f"{model.url}/slots", headers=headers)).json()
                found: dict[str, Any] = slots[0]
                if not found["is_processing"]:
                    return found
                await anyio.sleep(0.01)


async def test_an_answer_is_held_to_a_schema(model: LocalModel, wire: Wire) -> None:
    examples = [
        message(1, Role.USER, "A person named Bob, 20."),
        message(2, Role.ASSISTANT, '{"name": "Bob", "age": 20}'),
        message(3, Role.USER, "A person named Eve, 51."),
        message(4, Role.ASSISTANT, '{"name": "Eve", "age": 51}'),
    ]
    constraint = wire.schema(PERSON)
    told = [] if constraint else examples
    last = message(5, Role.USER, "A person named Ada, 36.")
    asked = await ask(model, wire, question(wire, [*told, last]), constraint)
    assert json.loads(asked.text) == {"name": "Ada", "age": 36}


async def test_a_conversation_beyond_the_window_is_told_from_other_refusals(
    model: LocalModel, wire: Wire
) -> None:
    asked = await ask(model, wire, question(wire, "word " * 9_000))
    assert asked.error.code == ModelErrorCode.CONTEXT_EXCEEDED


async def test_a_wrong_key_is_an_error_of_authentication(model: LocalModel, wire: Wire) -> None:
    asked = await ask(model, wire, question(wire, FRANCE), key="wrong")
    assert asked.error.code == ModelErrorCode.AUTHENTICATION
