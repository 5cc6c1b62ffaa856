"""Counting with OpenAI's vocabulary."""

import base64
import json
import random
import re
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import TOKEN_COUNTER, OpenAICompatibleModule, OpenAITokens
from agentslot.model.estimate import bound_text
from agentslot.session import Role
from tests.model.support import application, message, request
from tests.shared import shared

pytest.importorskip("bpe_openai")

TOKENS = OpenAITokens()


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("hello world", 2), (" the" * 50_000, 50_000)]
)
def test_texts_are_counted_by_the_vocabulary(text: str, tokens: int) -> None:
    assert tokens <= TOKENS(text.encode()) <= tokens + len(text) // 20_000


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
    assert bound_text(text.encode()) >= TOKENS(text.encode())


@given(st.text(max_size=200) | st.text(ascii_letters + digits, max_size=200))
def test_the_bound_by_bytes_is_never_below_the_vocabulary(text: str) -> None:
    data = json.dumps(text, ensure_ascii=False).encode(errors="replace")
    assert bound_text(data) >= TOKENS(data)


async def test_a_counter_with_a_vocabulary_is_closer_than_one_without() -> None:
    said = request([message(1, Role.USER, "several words of plain prose " * 100)])
    plain = OpenAICompatibleModule("http://127.0.0.1:1/v1", ["m"])
    exact = OpenAICompatibleModule("http://127.0.0.1:1/v1", ["m"]).counted_by(TOKENS)
    counts = [
        await application(module).build()[TOKEN_COUNTER].count_tokens(said)
        for module in (plain, exact)
    ]
    assert 500 < counts[1] < counts[0] / 2


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
    folder = shared("captures/openai_chat")
    asked = json.loads((folder / f"{name}.request.json").read_bytes())["body"]
    answer = (folder / f"{name}.response.txt").read_text(encoding="utf-8")
    [*_, reported] = [int(count) for count in re.findall(r'"prompt_tokens": ?(\d+)', answer)]
    counted = TOKENS(json.dumps(asked, ensure_ascii=False, separators=(",", ":")).encode())
    assert reported <= counted < 6 * reported
