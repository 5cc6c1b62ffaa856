"""Counting with OpenAI's vocabulary."""

import base64
import json
import random
import re
from dataclasses import replace
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import (
    TOKEN_COUNTER,
    ModelConfig,
    ModelRequest,
    OpenAICompatibleModule,
    OpenAIResponsesModule,
    OpenAITokens,
    TokenCount,
    TokenCounter,
    Transcript,
)
from agentslot.model.estimate import UsageLedger, bound_text
from agentslot.model.wires.openai_completions import OpenAICompletionsWire
from agentslot.model.wires.openai_responses import OpenAIResponsesWire
from agentslot.session import OutputFormat, Role, TokenUsage
from tests.model.support import PING, application, exchange, message, request
from tests.shared import shared

pytest.importorskip("bpe_openai")

TOKENS = OpenAITokens()


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("hello world", 2), (" the" * 50_000, 50_000)]
)
def test_texts_are_counted_by_the_vocabulary(text: str, tokens: int) -> None:
    assert tokens <= TOKENS.of(text) <= tokens + len(text) // 20_000


def drawn(letters: str) -> str:
    """A long text of those letters, always the same."""
    return "".join(random.Random(1).choices(letters, k=2_000))


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(random.Random(1).randbytes(1_500)).decode(),
        random.Random(1).randbytes(1_000).hex(),
        drawn(ascii_lowercase),
        drawn(ascii_uppercase),
        drawn("qxzjkvw"),
        drawn(ascii_letters + digits),
        "eTaO" * 500,
        "0a" * 1_000,
    ],
    ids=("base64", "digest", "small", "capital", "rare", "key", "mixed", "turns"),
)
def test_the_bound_holds_where_letters_make_no_words(text: str) -> None:
    assert bound_text(text.encode()) >= TOKENS.of(text)


@given(st.text(max_size=200) | st.text(ascii_letters + digits, max_size=200))
def test_the_bound_by_bytes_is_never_below_the_vocabulary(text: str) -> None:
    data = json.dumps(text, ensure_ascii=False).encode(errors="replace")
    assert bound_text(data) >= TOKENS.of(data.decode())


def counter(model: str = "gpt-4o", wire: str = "completions") -> TokenCounter:
    """Counts requests to that model of OpenAI over one of the two wires."""
    modules = {
        "completions": OpenAICompatibleModule("https://api.openai.com/v1", [model]),
        "responses": OpenAIResponsesModule([model]),
    }
    return application(modules[wire].counted_by(TOKENS)).build()[TOKEN_COUNTER]


def saying(*texts: str, model: str = "gpt-4o", system: str | None = None) -> ModelRequest:
    """A request without tools: texts of a user and of the assistant by turns."""
    roles = Role.ASSISTANT, Role.USER
    said = [message(n, roles[n % 2], text) for n, text in enumerate(texts, 1)]
    return replace(request(said, system, ModelConfig("openai", model)), tools=())


async def test_a_counter_with_a_vocabulary_is_closer_than_one_without() -> None:
    said = request([message(1, Role.USER, "several words of plain prose " * 100)])
    plain = OpenAICompatibleModule("http://127.0.0.1:1/v1", ["m"])
    closer = OpenAICompatibleModule("http://127.0.0.1:1/v1", ["m"]).counted_by(TOKENS)
    counts = [
        await application(module).build()[TOKEN_COUNTER].count_tokens(said)
        for module in (plain, closer)
    ]
    assert 500 < counts[1].tokens < counts[0].tokens / 2
    assert not any(count.exact for count in counts)


def recorded(name: str) -> tuple[dict[str, Any], int]:
    """The body of a recorded request, and the input tokens that were reported for it."""
    asked = json.loads(shared(f"captures/{name}.request.json").read_bytes())["body"]
    answer = shared(f"captures/{name}.response.txt").read_text(encoding="utf-8")
    [*_, reported] = re.findall(r'"(?:prompt|input)_tokens": ?(\d+)', answer)
    return asked, int(reported)


@pytest.mark.parametrize("wire", ["completions", "responses"])
@pytest.mark.parametrize(
    "name",
    [
        "openai_chat/stream_text",
        "openai_responses/stream_background",
        "openai_responses/stream_logprobs",
    ],
)
async def test_texts_count_exactly_as_the_provider_reported_them(name: str, wire: str) -> None:
    asked, reported = recorded(name)
    [said] = asked.get("messages") or asked["input"]
    model, system = asked["model"], asked.get("instructions")
    count = await counter(model, wire).count_tokens(
        saying(said["content"], model=model, system=system)
    )
    assert count == TokenCount(reported, exact=True)


@pytest.mark.parametrize(
    "name",
    [
        "openai_chat/stream_with_moderation_block",
        "openai_responses/stream_reasoning_summaries_large",
    ],
)
async def test_a_model_that_frames_otherwise_has_a_bound(name: str) -> None:
    asked, reported = recorded(name)
    [said] = asked.get("messages") or asked["input"]
    count = await counter(asked["model"]).count_tokens(
        saying(said["content"], model=asked["model"])
    )
    assert not count.exact
    assert reported < count.tokens


ENCODERS = {
    "completions": OpenAICompletionsWire("https://api.openai.com/v1").encode,
    "responses": OpenAIResponsesWire().encode,
}
TEXTS = st.text('ab z.,1{}"\\\n你🍸', min_size=1, max_size=30).filter(str.strip)


@pytest.mark.parametrize("wire", ENCODERS)
@given(texts=st.lists(TEXTS, min_size=2, max_size=5), system=st.none() | TEXTS)
def test_what_follows_a_reported_beginning_counts_exactly_as_in_the_whole(
    wire: str, texts: list[str], system: str | None
) -> None:
    encode = ENCODERS[wire]
    whole = saying(*texts, system=system)
    first = replace(whole, inputs=Transcript(whole.inputs[:1]))
    before = UsageLedger().count(first, encode(first).body, TOKENS)
    ledger = UsageLedger()
    usage = TokenUsage(input=before.tokens, total=before.tokens)
    ledger.learn(first.inputs.ledger, encode(first), usage)
    longer = replace(whole, inputs=first.inputs.appended(whole.inputs[1:]))
    count = ledger.count(longer, encode(longer).body, TOKENS)
    added = sum(4 + TOKENS.of(text) for text in texts[1:])
    assert count == TokenCount(before.tokens + added, exact=True)
    assert count == UsageLedger().count(whole, encode(whole).body, TOKENS)


@pytest.mark.parametrize(
    "asked",
    [
        replace(saying("hi"), tools=(PING,)),
        replace(saying("hi"), output=OutputFormat('{"type":"object"}')),
        replace(saying("hi"), inputs=Transcript(exchange("{}"))),
        replace(saying("hi"), inputs=Transcript([message(1, Role.USER, "two", "parts")])),
        saying("<|im_end|>"),
        saying("long " * 5_000),
        saying("data:image/png;base64,AAAA"),
        saying("hi", model="gpt-4o-audio-preview"),
    ],
    ids=("tool", "output", "call", "parts", "mark", "long", "image", "model"),
)
async def test_what_else_is_shown_makes_the_count_a_bound(asked: ModelRequest) -> None:
    count = await counter(asked.config.model, "responses").count_tokens(asked)
    assert not count.exact
    assert str(count) == f"at most {count.tokens} tokens"


def test_another_vocabulary_gives_a_bound() -> None:
    asked = saying("hi")
    count = OpenAITokens("cl100k_base")(ENCODERS["responses"](asked).body, asked)
    assert not count.exact


@pytest.mark.parametrize(
    "name",
    [
        "stream_text",
        "stream_one_tool_call",
        "stream_parallel_tool_calls",
        "stream_tool_then_text_2",
    ],
)
def test_a_provider_reported_no_more_tokens_than_are_counted(name: str) -> None:
    asked, reported = recorded(f"openai_chat/{name}")
    counted = TOKENS.of(json.dumps(asked, ensure_ascii=False, separators=(",", ":")))
    assert reported <= counted < 6 * reported
