"""Whole calls over Ollama's wire, against a local server."""

from typing import Any

import pytest

from agentslot.model import (
    MODEL_EXECUTOR,
    Completed,
    ExecutionCapabilities,
    Failed,
    ModelConfig,
    ModelDescriptor,
    ModelErrorCode,
    ModelEvent,
    OllamaModule,
    Reset,
    RetryPolicy,
    TextDelta,
)
from agentslot.model.testing import MemoryRecorder
from agentslot.session import Role, TokenUsage
from tests.loopback import Answer, Loopback, loopback
from tests.model.support import application, case, collect, message, request
from tests.model.test_ollama_decoder import DONE, lines, says

CONFIG = ModelConfig("ollama", "qwen3")


def answer(data: bytes, status: int = 200) -> Answer:
    return Answer(data, status, "application/x-ndjson")


HELLO = answer(lines(says(content="hi"), {**DONE, "prompt_eval_count": 5, "eval_count": 7}))


async def ask(
    *answers: Answer, model: str | ModelDescriptor = CONFIG.model
) -> tuple[list[ModelEvent], MemoryRecorder, Loopback]:
    """One call against scripted answers; the host is given as Ollama's users write it."""
    recorder = MemoryRecorder()
    async with loopback(*answers) as server:
        host = server.url.removeprefix("http://")
        module = OllamaModule([model], host=host, retry=RetryPolicy(base_delay_seconds=0))
        async with application(module).start() as runtime:
            asked = request([message(1, Role.USER, "hi")], config=CONFIG)
            stream = runtime.assembly[MODEL_EXECUTOR].execute(asked, recorder)
            events = await collect(stream)
    return events, recorder, server


def shown(events: list[ModelEvent]) -> list[str]:
    return [
        "|" if isinstance(e, Reset) else e.text for e in events if isinstance(e, TextDelta | Reset)
    ]


async def test_a_call_streams_and_is_recorded() -> None:
    events, recorder, server = await ask(HELLO)
    assert shown(events) == ["hi"]
    assert isinstance(events[-1], Completed)
    [outcome] = recorder.outcomes.values()
    assert outcome is not None
    assert outcome.usage == TokenUsage(input=5, output=7, total=12)
    [sent] = server.requests
    assert sent.path == "/api/chat"
    assert "authorization" not in sent.headers


async def test_calls_of_a_recorded_fault_complete() -> None:
    events, _, _ = await ask(answer(case("W23/tool_calls_before_done.ndjson")))
    assert isinstance(events[-1], Completed)
    assert [call.name for call in events[-1].completion.calls] == ["ping", "ping"]


async def test_an_answer_cut_off_is_tried_again_and_shown_once() -> None:
    events, recorder, _ = await ask(answer(lines(says(content="The"))), HELLO)
    assert shown(events) == ["The", "|", "hi"]
    assert len(recorder.outcomes) == 2


async def test_a_model_that_is_not_there_is_said_in_the_servers_words() -> None:
    events, _, server = await ask(answer(b'{"error":"model \'qwen3\' not found"}', 404))
    assert isinstance(events[-1], Failed)
    assert events[-1].error.code == ModelErrorCode.MODEL_NOT_FOUND
    asked = f"asked was {server.url}/api/chat"
    assert events[-1].error.message == f"model 'qwen3' not found ({asked})"


async def test_the_window_that_is_known_of_a_model_is_the_one_that_the_server_sets_up() -> None:
    known = ModelDescriptor("ollama", "qwen3", ExecutionCapabilities(4_096))
    _, _, server = await ask(HELLO, model=known)
    assert server.requests[0].json()["options"] == {"num_ctx": 4_096}


async def test_the_environment_names_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    async with loopback(HELLO) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url.removeprefix("http://"))
        async with application(OllamaModule(["qwen3"])).start() as runtime:
            asked = request([message(1, Role.USER, "hi")], config=CONFIG)
            executor = runtime.assembly[MODEL_EXECUTOR]
            events: list[Any] = await collect(executor.execute(asked, MemoryRecorder()))
    assert shown(events) == ["hi"]


def test_a_host_that_is_none_is_refused() -> None:
    for host in ("user:secret@host", "host:port", "ftp://host"):
        with pytest.raises(ValueError, match=r"base_url|[Pp]ort"):
            OllamaModule(["m"], host=host)
