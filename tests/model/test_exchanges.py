"""Real exchanges are recorded at the wire and replayed without a network."""

import json
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from agentslot.model import (
    MODEL_EXECUTOR,
    Completed,
    Failed,
    ModelErrorCode,
    ModelEvent,
    ModelRequest,
    OpenAICompatibleModule,
    Reset,
    RetryPolicy,
    TextDelta,
)
from agentslot.model.testing import (
    ExchangeMismatch,
    ExchangePlayer,
    ExchangeRecorder,
    MemoryRecorder,
    exchanges,
)
from agentslot.session import Role, SessionId
from tests.loopback import Answer, loopback
from tests.model.support import CONFIG, application, case, collect, message, request
from tests.model.test_openai_compatible import HELLO, refusal

KEY = "sk-canary-0123456789"
HI = request([message(1, Role.USER, "hi")])
CUT = Answer(case("W16/openai_cut_in_args.txt"), drop=True)


async def ask(
    url: str, recording: Path, *asked: ModelRequest, base: str = "https://api.openai.com/v1"
) -> list[list[ModelEvent]]:
    """One application that asks, over a recording."""
    module = OpenAICompatibleModule(
        url or base, ["m"], api_key_env="TEST_KEY", retry=RetryPolicy(base_delay_seconds=0)
    ).over(exchanges(recording))
    async with application(module).start() as runtime:
        executor = runtime.assembly[MODEL_EXECUTOR]
        return [await collect(executor.execute(each, MemoryRecorder())) for each in asked or (HI,)]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return tmp_path / "recordings" / "hello.json"


def kept(recording: Path) -> Any:
    return json.loads(recording.read_text(encoding="utf-8"))


async def read(recording: Path) -> Any:
    return await anyio.to_thread.run_sync(kept, recording)


async def test_what_was_recorded_is_replayed_without_a_network(recording: Path) -> None:
    async with loopback(HELLO) as server:
        [first] = await ask(f"{server.url}/v1", recording)
    [again] = await ask(f"{server.url}/v1", recording)
    assert first == again
    assert isinstance(again[-1], Completed)
    assert len(server.requests) == 1


async def test_a_replay_needs_no_key(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with loopback(HELLO) as server:
        [first] = await ask(f"{server.url}/v1", recording)
    monkeypatch.delenv("TEST_KEY")
    assert await ask(f"{server.url}/v1", recording) == [first]


async def test_failures_and_retries_are_replayed_too(recording: Path) -> None:
    async with loopback(CUT, refusal(503), HELLO) as server:
        [first] = await ask(f"{server.url}/v1", recording)
    [again] = await ask(f"{server.url}/v1", recording)
    assert [type(event) for event in again] == [TextDelta, Reset, TextDelta, Completed]
    assert first == again


async def test_no_key_gets_into_the_file(recording: Path) -> None:
    leaking = Answer(
        HELLO.body.replace(b'"hi"', b'"%s"' % KEY.encode()),
        headers=[("x-request-id", KEY), ("set-cookie", "session=1"), ("openai-organization", "me")],
    )
    async with loopback(leaking) as server:
        await ask(f"{server.url}/v1", recording)
    document = await read(recording)
    assert KEY not in json.dumps(document)
    [exchange] = document["exchanges"]
    assert exchange["request_headers"] == {"content-type": "application/json"}
    assert exchange["headers"] == {"content-type": "text/event-stream", "x-request-id": "***"}
    assert "***" in exchange["body"]


async def test_what_every_client_sends_is_no_secret(recording: Path) -> None:
    """Such as the word for no compression, which people write too."""
    said = b"keep-alive is no identity, ask agentslot.example or 127.0.0.1"
    asked = request([message(1, Role.USER, "your identity? keep-alive! application/json")])
    async with loopback(Answer(HELLO.body.replace(b'"hi"', b'"%s"' % said))) as server:
        [first] = await ask(f"{server.url}/v1", recording, asked)
    assert "***" not in json.dumps(await read(recording))
    assert await ask(f"{server.url}/v1", recording, asked) == [first]


async def test_another_session_may_ask_the_same_and_another_host_too(recording: Path) -> None:
    async with loopback(HELLO) as server:
        await ask(f"{server.url}/v1", recording)
    other = ModelRequest(
        SessionId("session-2"), HI.run_id, HI.step_id, CONFIG, None, HI.inputs, HI.tools
    )
    [again] = await ask("", recording, other, base="http://127.0.0.1:1/v1")
    assert isinstance(again[-1], Completed)


async def test_equal_requests_get_their_answers_in_order(recording: Path) -> None:
    other = Answer(HELLO.body.replace(b'"hi"', b'"ho"'))
    async with loopback(HELLO, other) as server:
        first = await ask(f"{server.url}/v1", recording, HI, HI)
    assert await ask(f"{server.url}/v1", recording, HI, HI) == first


async def test_a_request_that_was_not_recorded_says_where_it_differs(recording: Path) -> None:
    async with loopback(HELLO) as server:
        await ask(f"{server.url}/v1", recording)
    with pytest.raises(ExchangeMismatch, match=r"differs in \$\.messages\[0\]\.content"):
        await ask(f"{server.url}/v1", recording, request([message(1, Role.USER, "else")]))
    with pytest.raises(ExchangeMismatch, match="has no request to '/other/chat/completions'"):
        await ask(f"{server.url}/other", recording)
    with pytest.raises(ExchangeMismatch, match="has no request to"):
        await ask(f"{server.url}/v1", recording, HI, HI)


async def test_bytes_that_are_no_text_survive(recording: Path) -> None:
    async with loopback(Answer(b"\xff\xfe", 500, "application/octet-stream")) as server:
        module = f"{server.url}/v1"
        [first] = await ask(module, recording)
    assert isinstance(first[-1], Failed)
    assert (await read(recording))["exchanges"][0]["body"] == {"base64": "//4="}
    [again] = await ask(module, recording)
    assert isinstance(again[-1], Failed)
    assert again[-1].error.code == first[-1].error.code != ModelErrorCode.TRANSPORT


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format":"x","exchanges":[1]}'])
async def test_a_file_that_is_no_recording_is_refused(text: str, recording: Path) -> None:
    await anyio.Path(recording.parent).mkdir()
    await anyio.Path(recording).write_text(text, encoding="utf-8")
    with pytest.raises(ExchangeMismatch, match="is no recording"):
        await ask("", recording)


def test_a_file_that_is_there_is_replayed_and_one_that_is_not_is_recorded(tmp_path: Path) -> None:
    assert isinstance(exchanges(tmp_path / "new.json"), ExchangeRecorder)
    path = tmp_path / "old.json"
    path.write_text('{"format":"agentslot.exchanges/v1","exchanges":[]}', encoding="utf-8")
    assert isinstance(exchanges(path), ExchangePlayer)
