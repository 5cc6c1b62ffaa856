"""Our counters conform over every wire, and each check of their referee finds what it is for."""

from collections import Counter as Times
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import cast

import pytest

from agentslot._conformance import ConformanceFailure
from agentslot.model import (
    TOKEN_COUNTER,
    ModelConfig,
    ModelRequest,
    OpenAICompatibleModule,
    OpenAITokens,
    TokenCount,
    TokenCounter,
)
from agentslot.model.conformance import TOKEN_COUNTER_SUITE, Counting, OpenCounting
from agentslot.model.provider import ProviderModule
from agentslot.session import Message, ToolCall, ToolResult
from tests.model.stages import VENDORS
from tests.model.support import application

CONFIG = ModelConfig("mine", "model")


def of_module(module: ProviderModule, config: ModelConfig) -> OpenCounting:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[Counting]:
        async with application(module).start() as runtime:
            yield Counting(runtime.assembly[TOKEN_COUNTER], config)

    return opened


@pytest.mark.parametrize("wire", VENDORS)
async def test_our_counter_conforms_over_every_wire(wire: str) -> None:
    vendor = VENDORS[wire]
    module = vendor.module("http://127.0.0.1:1")
    await TOKEN_COUNTER_SUITE.check(of_module(module, vendor.config))


@pytest.mark.parametrize("model", ["m", "gpt-4o"])
async def test_a_counter_by_vocabulary_conforms(model: str) -> None:
    pytest.importorskip("bpe_openai")
    module = OpenAICompatibleModule("http://127.0.0.1:1/v1", [model]).counted_by(OpenAITokens())
    await TOKEN_COUNTER_SUITE.check(of_module(module, ModelConfig("openai", model)))


def whole(request: ModelRequest) -> int:
    """Every character of what is shown."""
    texts = [request.system_prompt or "", *(text(each) for each in request.inputs), tools(request)]
    return sum(map(len, texts))


def text(element: object) -> str:
    match element:
        case Message():
            return element.text
        case ToolCall():
            return element.name + element.arguments
        case ToolResult():
            return element.output or ""
        case _:
            raise TypeError(element)


def tools(request: ModelRequest) -> str:
    return "".join(f"{t.name}{t.description}{t.input_schema}" for t in request.tools)


class Counter:
    """Counts as it is told; an int is a bound."""

    def __init__(self, counts: Callable[[ModelRequest], object] = whole) -> None:
        self._counts = counts

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        count = self._counts(request)
        # On purpose: some count something else.
        return TokenCount(count) if isinstance(count, int) else cast("TokenCount", count)


def opening(make: Callable[[], TokenCounter]) -> OpenCounting:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[Counting]:
        yield Counting(make(), CONFIG)

    return opened


async def broken_rules(make: Callable[[], TokenCounter]) -> dict[str, str]:
    found: dict[str, str] = {}
    for check in TOKEN_COUNTER_SUITE.checks:
        try:
            await check(opening(make))
        except ConformanceFailure as failure:
            found[failure.check] = failure.detail
    return found


async def test_a_counter_of_characters_conforms() -> None:
    assert await broken_rules(Counter) == {}


def hates_separators(request: ModelRequest) -> int:
    return -1 if any("\u2028" in text(each) for each in request.inputs[:1]) else whole(request)


def numbering(request: ModelRequest) -> object:
    return "7" if hates_separators(request) < 0 else whole(request)


def drifting() -> Counter:
    """Counts more each time that it counts the same."""
    times = Times[int]()

    def counts(request: ModelRequest) -> int:
        tokens = whole(request)
        times[tokens] += 1
        return tokens + times[tokens]

    return Counter(counts)


def boastful() -> Counter:
    """Calls its bound exact when it is asked again."""
    known: set[int] = set()

    def counts(request: ModelRequest) -> TokenCount:
        tokens = whole(request)
        exact = tokens in known
        known.add(tokens)
        return TokenCount(tokens, exact)

    return Counter(counts)


def forgetful() -> Counter:
    """Keeps what it has counted of a conversation, and for all time."""
    known: dict[object, int] = {}

    def counts(request: ModelRequest) -> int:
        conversation = sum(len(text(each)) for each in request.inputs)
        known.setdefault(request.inputs.ledger, conversation)
        return whole(request) - conversation + known[request.inputs.ledger]

    return Counter(counts)


def without(part: str) -> Callable[[], Counter]:
    lengths: dict[str, Callable[[ModelRequest], int]] = {
        "system prompt": lambda request: len(request.system_prompt or ""),
        "tool": lambda request: len(tools(request)),
        "call": lambda request: sum(
            len(text(each)) for each in request.inputs if isinstance(each, ToolCall | ToolResult)
        ),
    }
    return lambda: Counter(lambda request: whole(request) - lengths[part](request))


@pytest.mark.parametrize(
    ("make", "rule", "said"),
    [
        (lambda: Counter(hates_separators), "every_request_has_a_number_of_tokens", "-1 tokens"),
        (lambda: Counter(numbering), "every_request_has_a_number_of_tokens", "is no TokenCount"),
        (boastful, "the_same_request_has_the_same_number", "after it has counted at most"),
        (drifting, "the_same_request_has_the_same_number", "after it has counted"),
        (without("system prompt"), "nothing_of_a_request_is_left_out", "the system prompt"),
        (without("tool"), "nothing_of_a_request_is_left_out", "what a tool is for"),
        (without("call"), "nothing_of_a_request_is_left_out", "the arguments of a call"),
        (forgetful, "a_conversation_that_grows_never_counts_less", "2 messages count as"),
    ],
)
async def test_a_broken_counter_fails_the_check_that_is_for_it(
    make: Callable[[], TokenCounter], rule: str, said: str
) -> None:
    found = await broken_rules(make)
    assert rule in found
    assert said in found[rule]
    assert list(found) == [rule]
