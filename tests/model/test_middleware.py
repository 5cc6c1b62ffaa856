"""Middleware in front of providers: another model, a rate limit, remembered answers."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot import Module
from agentslot.model import (
    MODEL_EXECUTOR,
    MODEL_MIDDLEWARE,
    MODEL_PROVIDERS,
    AttemptRecorder,
    Completed,
    Completion,
    Failed,
    FinishReason,
    ModelConfig,
    ModelError,
    ModelErrorCode,
    ModelEvent,
    ModelExecutor,
    ModelMiddleware,
    ModelRequest,
    ModelStream,
    Proceed,
    Reset,
    TextDelta,
    TokenCount,
)
from agentslot.model.middleware import FallbackModel, RateLimit, RequestCache, TokenBucket
from agentslot.model.testing import (
    MemoryRecorder,
    Script,
    ScriptedExecutor,
    calls_answer,
    failing_answer,
    text_answer,
)
from agentslot.session import AttemptId, Role, SessionId, TextPart, TokenUsage
from tests.model.support import application, collect, message, request

FIRST, OTHER = ModelConfig("first", "m"), ModelConfig("other", "n")
ASK = request([message(1, Role.USER, "hi")], config=FIRST)
OVERLOADED = failing_answer(ModelErrorCode.OVERLOADED, deltas=["half"])


class Provider(ScriptedExecutor):
    """A provider whose bytes are the text of the first message."""

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        return TokenCount(1)

    async def fingerprint(self, request: ModelRequest) -> str:
        return repr((request.inputs[0], request.config.model))


def executor(
    middleware: Sequence[ModelMiddleware], **providers: Sequence[Script]
) -> tuple[ModelExecutor, dict[str, Provider]]:
    made = {key: Provider(*scripts) for key, scripts in providers.items()}
    built = application(
        Module("test.providers", *(MODEL_PROVIDERS.add(key, p) for key, p in made.items())),
        Module("test.middleware", *(MODEL_MIDDLEWARE.append(one) for one in middleware)),
    ).build()
    return built[MODEL_EXECUTOR], made


async def ask(
    executor: ModelExecutor, asked: ModelRequest = ASK
) -> tuple[list[ModelEvent], MemoryRecorder]:
    recorder = MemoryRecorder()
    return await collect(executor.execute(asked, recorder)), recorder


def answer_of(events: list[ModelEvent]) -> str:
    assert isinstance(events[-1], Completed)
    return "".join(p.text for p in events[-1].completion.parts if isinstance(p, TextPart))


class Tagging:
    """Notes when it is passed."""

    def __init__(self, name: str, log: list[str]) -> None:
        self._name = name
        self._log = log

    def execute(
        self, request: ModelRequest, recorder: AttemptRecorder, proceed: Proceed
    ) -> ModelStream:
        self._log.append(self._name)
        return proceed(request, recorder)


async def test_the_first_middleware_is_the_outermost_and_describe_shows_the_order() -> None:
    log: list[str] = []
    built = application(
        Module("test.provider", MODEL_PROVIDERS.add("first", Provider(text_answer("ok")))),
        Module("a.outer", MODEL_MIDDLEWARE.append(Tagging("outer", log))),
        Module("b.inner", MODEL_MIDDLEWARE.append(Tagging("inner", log))),
    ).build()
    await ask(built[MODEL_EXECUTOR])
    assert log == ["outer", "inner"]
    [chain] = [slot for slot in built.describe().slots if slot.id == "model.middleware"]
    assert [entry.module for entry in chain.contributions] == ["a.outer", "b.inner"]


async def test_another_model_answers_when_the_first_cannot() -> None:
    model, made = executor([FallbackModel(OTHER)], first=[OVERLOADED], other=[text_answer("yes")])
    events, recorder = await ask(model)
    first, second = AttemptId("attempt-1"), AttemptId("attempt-2")
    assert events[:3] == [TextDelta(first, "half"), Reset(first), TextDelta(second, "yes")]
    assert answer_of(events) == "yes"
    assert made["other"].requests == [replace(ASK, config=OTHER)]
    served = [outcome.served_model for outcome in recorder.outcomes.values() if outcome]
    assert served == ["", "other/n"]


async def test_on_a_budget_that_is_used_up_nobody_else_is_asked() -> None:
    costly = replace(OVERLOADED, usage=TokenUsage(input=10, output=5, total=15))
    model, made = executor([FallbackModel(OTHER)], first=[costly], other=[text_answer("yes")])
    events = await collect(model.execute(ASK, MemoryRecorder(limit=15)))
    assert isinstance(events[-1], Failed)
    assert events[-1].error.code == ModelErrorCode.OVERLOADED
    assert not made["other"].requests


async def test_what_another_model_wants_back_is_not_kept_for_the_first() -> None:
    thinking = Script(Completion((TextPart("x"),), continuation='{"signature":1}'))
    model, _ = executor([FallbackModel(OTHER)], first=[OVERLOADED], other=[thinking])
    events, _ = await ask(model)
    assert isinstance(events[-1], Completed)
    assert events[-1].completion.continuation is None
    model, _ = executor([FallbackModel(OTHER)], first=[thinking], other=[])
    events, _ = await ask(model)
    assert isinstance(events[-1], Completed)
    assert events[-1].completion.continuation == '{"signature":1}'


async def test_a_request_that_is_wrong_is_wrong_everywhere() -> None:
    rejected = failing_answer(ModelErrorCode.REQUEST_REJECTED)
    model, made = executor([FallbackModel(OTHER)], first=[rejected], other=[text_answer("yes")])
    events, _ = await ask(model)
    assert isinstance(events[-1], Failed)
    assert not made["other"].requests


async def test_the_last_failure_is_the_one_that_is_told() -> None:
    last = Script(ModelError(ModelErrorCode.TIMEOUT, "too slow"))
    model, _ = executor([FallbackModel(OTHER)], first=[OVERLOADED], other=[last])
    events, _ = await ask(model)
    assert isinstance(events[-1], Failed)
    assert events[-1].error.code == ModelErrorCode.TIMEOUT


@given(
    steps=st.lists(st.floats(0, 3), min_size=1, max_size=60),
    burst=st.integers(1, 5),
)
def test_no_minute_has_more_requests_than_the_rate_and_the_burst(
    steps: list[float], burst: int
) -> None:
    bucket, now, sent = TokenBucket(60, burst), 0.0, list[float]()
    for step in steps:
        now += step
        sent.append(now + bucket.reserve(now))
    assert sent == sorted(sent)
    for index, begin in enumerate(sent):
        in_window = [t for t in sent[index:] if t < begin + 10 - 1e-6]
        assert len(in_window) <= 10 + burst


def test_a_caller_that_waited_is_not_credited_the_wait() -> None:
    bucket = TokenBucket(60, 1)
    assert [bucket.reserve(0.0) for _ in range(3)] == [0.0, 1.0, 2.0]
    assert bucket.reserve(2.0) == 1.0
    bucket.give_back()
    assert bucket.reserve(2.0) == 1.0


@pytest.mark.parametrize(("rate", "burst"), [(0, 1), (-1, 1), (60, 0)])
def test_a_rate_limit_that_lets_nothing_through_is_refused(rate: float, burst: int) -> None:
    with pytest.raises(ValueError, match="positive rate"):
        RateLimit(rate, burst=burst)


async def test_attempts_of_a_call_wait_for_their_turn_before_they_are_recorded() -> None:
    limit = RateLimit(1, clock=lambda: 0.0)
    model, _ = executor([limit], first=[text_answer("a"), text_answer("b")])
    await ask(model)
    recorder = MemoryRecorder()
    stream = model.execute(ASK, recorder)
    with anyio.move_on_after(0):
        await stream.receive()
    assert not recorder.outcomes


async def test_a_limit_of_one_provider_leaves_the_others_alone() -> None:
    limit = RateLimit(1, provider="other", clock=lambda: 0.0)
    model, _ = executor([limit], first=[text_answer("a"), text_answer("b")])
    assert [answer_of((await ask(model))[0]) for _ in range(2)] == ["a", "b"]


async def test_the_same_bytes_are_answered_from_memory() -> None:
    cache = RequestCache()
    paid = replace(text_answer("ok"), cost_usd=Decimal("0.25"))
    model, made = executor([cache], first=[paid])
    first, _ = await ask(model)
    again, recorder = await ask(model)
    assert answer_of(first) == answer_of(again) == "ok"
    assert again[0] == TextDelta(AttemptId("attempt-1"), "ok")
    assert len(made["first"].requests) == 1
    [outcome] = recorder.outcomes.values()
    assert outcome is not None
    assert outcome.usage is None
    assert outcome.provider_request_id.startswith("cache:")
    assert (cache.stats.hits, cache.stats.misses) == (1, 1)
    assert cache.stats.saved_usd == Decimal("0.25")


async def test_other_bytes_and_other_sessions_are_asked_anew() -> None:
    model, made = executor([RequestCache()], first=[text_answer(str(n)) for n in range(3)])
    await ask(model)
    await ask(model, request([message(1, Role.USER, "else")], config=FIRST))
    await ask(model, replace(ASK, session_id=SessionId("session-2")))
    assert len(made["first"].requests) == 3


@pytest.mark.parametrize(("ignore", "asked"), [(False, 2), (True, 1)])
async def test_whoever_asks_for_chance_gets_it(ignore: bool, asked: int) -> None:
    hot = replace(ASK, config=replace(FIRST, temperature=1.0))
    cache = RequestCache(ignore_temperature=ignore)
    model, made = executor([cache], first=[text_answer("a"), text_answer("b")])
    for _ in range(2):
        await ask(model, hot)
    assert len(made["first"].requests) == asked


@pytest.mark.parametrize(
    "unfit", [failing_answer(ModelErrorCode.TIMEOUT), calls_answer(finish=FinishReason.LENGTH)]
)
async def test_what_failed_or_was_cut_off_is_not_remembered(unfit: Script) -> None:
    model, made = executor([RequestCache()], first=[unfit, text_answer("whole")])
    await ask(model)
    events, _ = await ask(model)
    assert answer_of(events) == "whole"
    assert len(made["first"].requests) == 2


async def test_the_answer_that_was_not_used_for_longest_is_forgotten_first() -> None:
    model, made = executor([RequestCache(max_entries=2)], first=[text_answer(c) for c in "abcd"])
    one, two, three = (
        request([message(1, Role.USER, text)], config=FIRST) for text in ("1", "2", "3")
    )
    for asked in (one, two, one, three, one, two):
        await ask(model, asked)
    assert [r.inputs[0] for r in made["first"].requests] == [
        r.inputs[0] for r in (one, two, three, two)
    ]


def test_a_request_cache_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="max_entries must be at least 1, not 0"):
        RequestCache(max_entries=0)
