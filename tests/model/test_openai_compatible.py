"""The OpenAI-compatible executor over real sockets: attempts, retries, resets, limits, secrets."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from agentslot import Module
from agentslot.model import (
    MODEL_CATALOG,
    MODEL_EXECUTOR,
    TOKEN_COUNTER,
    CompatibilityProfile,
    Completed,
    ExecutionCapabilities,
    Failed,
    ModelConfig,
    ModelDescriptor,
    ModelError,
    ModelErrorCode,
    ModelEvent,
    ModelExecutor,
    ModelRequest,
    OpenAICompatibleModule,
    Reset,
    RetryPolicy,
    TextDelta,
    Timeouts,
    TokenCounter,
    Transcript,
)
from agentslot.model.estimate import UsageLedger
from agentslot.model.testing import MemoryRecorder
from agentslot.session import (
    AttemptId,
    AttemptStatus,
    ClassifiedError,
    ErrorKind,
    Role,
    TextPart,
    TokenUsage,
)
from tests.loopback import Answer, Loopback, loopback
from tests.model.support import application, case, collect, message, request

KEY = "sk-very-secret"
AT_ONCE = RetryPolicy(base_delay_seconds=0)
HELLO = Answer(
    b'data: {"model":"m","choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n'
    b'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\n'
    b"data: [DONE]\n\n"
)
ASK = request([message(1, Role.USER, "hi")])


@asynccontextmanager
async def executor_for(url: str, **options: Any) -> AsyncGenerator[ModelExecutor]:
    """The executor of a running application whose provider stands at `url`."""
    settings: dict[str, Any] = {"models": ["m"], "retry": AT_ONCE, **options}
    module = OpenAICompatibleModule(f"{url}/v1", **settings)
    async with application(module).start() as runtime:
        yield runtime.assembly[MODEL_EXECUTOR]


async def ask(
    *answers: Answer, asked: ModelRequest = ASK, **options: Any
) -> tuple[list[ModelEvent], MemoryRecorder, Loopback]:
    """One call against scripted answers."""
    recorder = MemoryRecorder()
    async with loopback(*answers) as server, executor_for(server.url, **options) as executor:
        events = await collect(executor.execute(asked, recorder))
    return events, recorder, server


def error_of(events: list[ModelEvent]) -> ModelError:
    assert isinstance(events[-1], Failed)
    return events[-1].error


def text_of(events: list[ModelEvent]) -> str:
    assert isinstance(events[-1], Completed)
    parts = events[-1].completion.parts
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def refusal(status: int, message: str = "no", **headers: str) -> Answer:
    body = f'{{"error":{{"message":"{message}"}}}}'.encode()
    fields = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return Answer(body, status, "application/json", fields)


async def test_an_answer_streams_and_its_attempt_is_recorded_before_it_completes() -> None:
    recorder = MemoryRecorder()
    first = AttemptId("attempt-1")
    async with loopback(HELLO) as server, executor_for(server.url) as executor:
        stream = executor.execute(ASK, recorder)
        assert not server.requests
        assert await stream.receive() == TextDelta(first, "hi")
        assert recorder.outcomes == {first: None}
        completed = await stream.receive()
        with pytest.raises(anyio.EndOfStream):
            await stream.receive()
        await stream.aclose()
    assert isinstance(completed, Completed)
    assert text_of([completed]) == "hi"
    outcome = recorder.outcomes[first]
    assert outcome is not None
    assert (outcome.status, outcome.usage, outcome.served_model) == (
        AttemptStatus.SUCCEEDED,
        TokenUsage(5, 7, total=12),
        "m",
    )
    assert server.requests[0].path == "/v1/chat/completions"
    assert "authorization" not in server.requests[0].headers
    assert server.requests[0].json()["messages"] == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 524, 529])
async def test_a_passing_failure_is_tried_again(status: int) -> None:
    events, recorder, server = await ask(refusal(status), HELLO)
    assert text_of(events) == "hi"
    statuses = [outcome.status for outcome in recorder.outcomes.values() if outcome]
    assert statuses == [AttemptStatus.FAILED, AttemptStatus.SUCCEEDED]
    assert server.requests[0].body == server.requests[1].body


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, ModelErrorCode.REQUEST_REJECTED),
        (401, ModelErrorCode.AUTHENTICATION),
        (402, ModelErrorCode.QUOTA_EXHAUSTED),
        (404, ModelErrorCode.MODEL_NOT_FOUND),
        (422, ModelErrorCode.REQUEST_REJECTED),
        (413, ModelErrorCode.REQUEST_REJECTED),
    ],
)
async def test_a_lasting_failure_is_not_tried_again(status: int, code: ModelErrorCode) -> None:
    events, recorder, server = await ask(refusal(status, "what is wrong"), HELLO)
    error = error_of(events)
    hint = {
        401: f" ({server.url[7:]} got no key: name one with api_key_env or credential)",
        404: f" (asked was {server.url}/v1/chat/completions)",
    }.get(status, "")
    message = f"what is wrong{hint}"
    assert (error.code, error.status, error.message) == (code, status, message)
    assert len(server.requests) == 1
    outcome = recorder.outcomes[AttemptId("attempt-1")]
    assert outcome is not None
    assert (outcome.error_code, outcome.error_message) == (code, message)
    assert outcome.usage is None


async def test_a_wait_that_is_too_long_is_told() -> None:
    busy = Answer(b'{"error":{"message":"busy"}}', 429, headers=[("retry-after", "3600")])
    events, _, server = await ask(busy, HELLO)
    error = error_of(events)
    assert error.message == (
        "busy (it asks to wait 3600 seconds, and max_retry_after_seconds is 60)"
    )
    assert (error.retryable, error.retry_after_seconds) == (True, 3600)
    assert len(server.requests) == 1


@pytest.mark.parametrize("body", [b"<html>Please log in</html>", b"\n <!DOCTYPE html>"])
async def test_a_web_page_is_no_answer(body: bytes) -> None:
    events, _, server = await ask(Answer(body, content_type="text/html"))
    error = error_of(events)
    assert error.code == ModelErrorCode.INVALID_ANSWER
    assert error.message == "the server sent a web page, and no answer of a model: check base_url"
    assert len(server.requests) == 1


async def test_the_providers_own_word_on_retrying_wins() -> None:
    events, _, server = await ask(refusal(400, x_should_retry="true"), HELLO)
    assert text_of(events) == "hi"
    events, _, server = await ask(refusal(503, x_should_retry="false"), HELLO)
    assert error_of(events).code == ModelErrorCode.OVERLOADED
    assert len(server.requests) == 1


async def test_a_used_up_quota_is_not_tried_again() -> None:
    events, _, server = await ask(refusal(429, "You exceeded your current quota"), HELLO)
    assert error_of(events).code == ModelErrorCode.QUOTA_EXHAUSTED
    assert len(server.requests) == 1


async def test_a_wait_beyond_the_limit_ends_the_call_and_is_told() -> None:
    events, _, server = await ask(refusal(429, retry_after="3600"), HELLO)
    error = error_of(events)
    assert (error.retryable, error.retry_after_seconds) == (True, 3600)
    assert len(server.requests) == 1


async def test_attempts_end_with_the_policy_or_the_budget() -> None:
    events, recorder, server = await ask(refusal(503))
    assert error_of(events).code == ModelErrorCode.OVERLOADED
    assert len(server.requests) == len(recorder.outcomes) == 3
    recorder = MemoryRecorder(limit=1)
    started = recorder.outcomes
    async with loopback(HELLO) as server, executor_for(server.url) as executor:
        await collect(executor.execute(ASK, recorder))
        events = await collect(executor.execute(ASK, recorder))
    assert error_of(events).code == ModelErrorCode.BUDGET_EXHAUSTED
    assert len(started) == len(server.requests) == 1


async def test_a_refused_start_passes_through_and_nothing_is_sent() -> None:
    class Refusing(MemoryRecorder):
        async def started(self) -> AttemptId:
            raise ClassifiedError(ErrorKind.UNAVAILABLE, "model_attempt_limit", "enough")

    async with loopback(HELLO) as server, executor_for(server.url) as executor:
        with pytest.raises(ClassifiedError, match="enough"):
            await collect(executor.execute(ASK, Refusing()))
    assert not server.requests


@pytest.mark.parametrize("drop", [False, True])
async def test_a_broken_stream_is_reset_and_tried_again(drop: bool) -> None:
    cut = Answer(case("W16/openai_cut_in_args.txt"), drop=drop)
    events, recorder, _ = await ask(cut, HELLO)
    first, second = AttemptId("attempt-1"), AttemptId("attempt-2")
    assert events[:3] == [TextDelta(first, "writing"), Reset(first), TextDelta(second, "hi")]
    assert text_of(events) == "hi"
    outcome = recorder.outcomes[first]
    assert outcome is not None
    assert outcome.error_code == ModelErrorCode.BROKEN_STREAM
    assert outcome.partial_text == "writing"
    assert outcome.usage is not None
    assert outcome.usage.estimated


async def test_a_final_failure_takes_back_what_was_shown_and_keeps_it_for_people() -> None:
    broken = Answer(case("W07/openrouter_after_text.txt"))
    events, _, _ = await ask(broken, retry=RetryPolicy(max_attempts=1))
    assert [type(event) for event in events] == [TextDelta, Reset, Failed]
    error = error_of(events)
    assert (error.partial_text, error.status) == ("Let me run", 502)


async def test_done_ends_the_call_though_the_server_keeps_the_connection() -> None:
    held = Answer(case("W02/stream.txt"), hang=True)
    async with loopback(held) as server, executor_for(server.url) as executor:
        with anyio.fail_after(20):
            assert text_of(await collect(executor.execute(ASK, MemoryRecorder()))) == "ok"
            await server.disconnected.wait()


async def test_one_connection_serves_call_after_call() -> None:
    answer = Answer(HELLO.body, keep=True)
    async with loopback(answer) as server, executor_for(server.url) as executor:
        for _ in range(3):
            assert text_of(await collect(executor.execute(ASK, MemoryRecorder()))) == "hi"
    assert (len(server.requests), server.connections) == (3, 1)


async def test_silence_and_slowness_are_timeouts() -> None:
    silent = Answer(b": hello\n\n", hang=True)
    once = RetryPolicy(max_attempts=1)
    for timeouts in (Timeouts(idle_seconds=0.05), Timeouts(total_seconds=0.05)):
        events, _, _ = await ask(silent, retry=once, timeouts=timeouts)
        error = error_of(events)
        assert (error.code, error.retryable) == (ModelErrorCode.TIMEOUT, True)


async def test_an_answer_that_is_complete_survives_silence_behind_it() -> None:
    answer = Answer(case("W13/no_final_blank_line.txt"), hang=True)
    events, _, _ = await ask(answer, timeouts=Timeouts(idle_seconds=0.5))
    assert text_of(events) == "ab"


async def test_an_unreachable_server_is_a_transport_failure() -> None:
    async with loopback(HELLO) as server:
        url = server.url
    async with executor_for(url) as executor:
        recorder = MemoryRecorder()
        events = await collect(executor.execute(ASK, recorder))
    error = error_of(events)
    assert (error.code, len(recorder.outcomes)) == (ModelErrorCode.TRANSPORT, 3)
    host = url.removeprefix("http://").partition("/")[0]
    assert error.message == f"the server could not be reached: {host}"


async def test_leaving_a_call_closes_the_connection_and_records_it_as_canceled() -> None:
    recorder = MemoryRecorder()
    started = Answer(case("W16/openai_cut_in_args.txt"), hang=True)
    async with loopback(started) as server, executor_for(server.url) as executor:
        stream = executor.execute(ASK, recorder)
        await stream.receive()
        await stream.aclose()
        await stream.aclose()
        await server.disconnected.wait()
    outcome = recorder.outcomes[AttemptId("attempt-1")]
    assert outcome is not None
    assert (outcome.status, outcome.error_code) == (AttemptStatus.CANCELED, "canceled")
    assert outcome.partial_text == "writing"


async def test_cancelling_a_call_records_it_and_is_not_swallowed() -> None:
    recorder = MemoryRecorder()
    silent = Answer(b": hello\n\n", hang=True)
    async with loopback(silent) as server, executor_for(server.url) as executor:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(collect, executor.execute(ASK, recorder))
            while not server.requests:
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        await server.disconnected.wait()
    outcome = recorder.outcomes[AttemptId("attempt-1")]
    assert outcome is not None
    assert outcome.status is AttemptStatus.CANCELED


async def test_the_key_is_read_for_each_attempt_and_shown_nowhere(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("TEST_KEY", f" {KEY}\n")
    leaking = refusal(401, f"Incorrect API key provided: {KEY}. Find yours in settings.")
    events, recorder, server = await ask(leaking, api_key_env="TEST_KEY")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    error = error_of(events)
    told = "Incorrect API key provided: ***. Find yours in settings."
    assert error.message == f"{told} ({server.url[7:]} got the key of 'env:TEST_KEY')"
    assert KEY not in repr((events, recorder.outcomes, error.args))
    assert KEY not in caplog.text


async def test_a_message_that_is_cut_in_the_key_shows_nothing_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    for length in range(470, 520):
        leaking = refusal(400, f"{'x' * length}{KEY}{'y' * 600}")
        events, recorder, _ = await ask(leaking, api_key_env="TEST_KEY")
        assert KEY[:4] not in repr((events, recorder.outcomes))


@pytest.mark.parametrize("value", [None, "", "  ", "sk-\u0441yrillic", "a\nb: c"])
async def test_a_key_that_is_missing_or_unfit_stops_the_attempt_before_it_is_sent(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TEST_KEY", value)
    events, recorder, server = await ask(HELLO, api_key_env="TEST_KEY")
    error = error_of(events)
    assert error.code == ModelErrorCode.CREDENTIAL_UNAVAILABLE
    assert "TEST_KEY" in error.message
    assert not server.requests
    assert [o.error_code for o in recorder.outcomes.values() if o] == [error.code]


async def test_a_redirect_is_refused_so_that_no_other_host_sees_the_key() -> None:
    moved = Answer(status=307, headers=[("location", "http://127.0.0.1:1/")])
    events, _, server = await ask(moved)
    assert "base_url" in error_of(events).message
    assert len(server.requests) == 1


async def test_nothing_of_a_foreign_error_page_is_shown() -> None:
    page = Answer(b"<html>sk-internal</html>", 403, "text/html")
    events, _, _ = await ask(page)
    message = error_of(events).message
    assert message.startswith("the provider answered with status 403 and no message (127.0.0.1:")
    assert "sk-internal" not in message


async def test_a_vendors_message_becomes_one_safe_bounded_line() -> None:
    events, _, _ = await ask(refusal(400, "bad\\nline\\u001b[31m\\u202e " + "x" * 9000))
    message = error_of(events).message
    assert message.startswith("bad line [31m x")
    assert message.isprintable()
    assert len(message.encode()) <= 512


async def test_further_headers_are_sent_and_none_removes_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    headers = {"X-Team": "blue", "Authorization": None}
    _, _, server = await ask(HELLO, api_key_env="TEST_KEY", headers=headers)
    assert server.requests[0].headers["x-team"] == "blue"
    assert "authorization" not in server.requests[0].headers


async def test_a_whole_document_is_an_answer_too() -> None:
    document = case("W09/args_object_nonstream.json")
    events, _, _ = await ask(Answer(document, content_type="application/json", chunk=7))
    assert isinstance(events[-1], Completed)
    assert events[-1].completion.calls[0].name == "write_file"


def counter_and_executor(*modules: Module) -> tuple[TokenCounter, ModelExecutor]:
    assembly = application(*modules).build()
    return assembly[TOKEN_COUNTER], assembly[MODEL_EXECUTOR]


async def test_the_counter_bounds_what_is_new_and_learns_what_was_reported() -> None:
    module = OpenAICompatibleModule("http://127.0.0.1:1/v1", ["m"])
    counter, _ = counter_and_executor(module)
    words = "several words of plain prose " * 100
    transcript = Transcript([message(1, Role.USER, words)])
    first = (await counter.count_tokens(request(transcript))).tokens
    assert len(words) / 4 < first < len(words)
    async with loopback(HELLO) as server:
        module = OpenAICompatibleModule(f"{server.url}/v1", ["m"])
        async with application(module).start() as runtime:
            counter = runtime.assembly[TOKEN_COUNTER]
            executor = runtime.assembly[MODEL_EXECUTOR]
            await collect(executor.execute(request(transcript), MemoryRecorder()))
            longer = transcript.appended([message(2, Role.USER, "short")])
            assert 5 < (await counter.count_tokens(request(longer))).tokens < 60
            other = request(longer, system="another prompt")
            assert (await counter.count_tokens(other)).tokens > first


async def test_pictures_count_as_pictures_and_not_as_text() -> None:
    picture = b'"data:image/png;base64,' + b"A" * 100_000 + b'"'
    count = UsageLedger().count(request([]), picture)
    assert 2_000 <= count.tokens < 2_100
    assert not count.exact


def test_models_are_described_and_unknown_ones_refused_with_near_names() -> None:
    known = ModelDescriptor("openai", "big", ExecutionCapabilities(1_000))
    module = OpenAICompatibleModule("http://127.0.0.1:1/v1", [known, "gpt-small"])
    assembly = application(module).build()
    executor = assembly[MODEL_EXECUTOR]
    assert executor.inspect(ModelConfig("openai", "big")).context_window_tokens == 1_000
    assert executor.inspect(ModelConfig("openai", "gpt-small")).context_window_tokens == 128_000
    with pytest.raises(ClassifiedError, match="openai/gpt-small") as caught:
        executor.inspect(ModelConfig("openai", "gpt-smal"))
    assert (caught.value.kind, caught.value.code) == ("invalid_input", "model_not_supported")
    listed = assembly[MODEL_CATALOG]["openai"].models()
    assert [descriptor.model for descriptor in listed] == ["big", "gpt-small"]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.openai.com/v1",
        "ftp://host/",
        "http://user:pw@host/",
        "http://h/?key=1",
        "http://h:99999/",
    ],
)
def test_a_base_url_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match=r"base_url|[Pp]ort"):
        OpenAICompatibleModule(url, ["m"])


def test_mistakes_in_the_list_of_models_are_refused_at_once() -> None:
    other = ModelDescriptor("other", "m", ExecutionCapabilities(1))
    for models in ([], "gpt-5", [other]):
        with pytest.raises(ValueError, match="model"):
            OpenAICompatibleModule("http://h/", models)


async def test_a_profile_of_ones_own_replaces_the_known_one() -> None:
    profile = CompatibilityProfile(max_tokens_field="max_completion_tokens")
    config = ModelConfig("openai", "m", max_tokens=5)
    asked = request([message(1, Role.USER, "hi")], config=config)
    _, _, server = await ask(HELLO, asked=asked, profile=profile)
    assert server.requests[0].json()["max_completion_tokens"] == 5
