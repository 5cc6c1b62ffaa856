"""The requests that the vendors' clients once sent, with the transcripts that they were made of."""

import json

from tests.difftest.exchange import KEY, Exchange
from tests.difftest.scenarios import (
    Scenario,
    assistant,
    call,
    failed,
    picture,
    result,
    results,
    thought,
    user,
)
from tests.shared import shared

_SCHEMA = {
    "type": "object",
    "properties": {"q": {"type": "string"}},
    "required": ["q"],
    "additionalProperties": False,
}
_TOOL = {"name": "look", "description": "d", "schema": _SCHEMA}
_ANSWER = {
    "properties": {
        "x": {"title": "X", "type": "integer"},
        "tags": {"items": {"type": "string"}, "title": "Tags", "type": "array"},
    },
    "required": ["x", "tags"],
    "title": "Ans",
    "type": "object",
}
_ASKED = user("hi", picture())
_CALLS = [call(f"t{n}", f'{{"q": "{n}"}}') for n in range(3)]
_RESULTS = results(*(result(f"t{n}", f"r{n}") for n in range(3)))

TRANSCRIPTS = {
    "openai-chat_1": Scenario(
        "recorded",
        [_ASKED, assistant("calling", *_CALLS), _RESULTS],
        system="You are terse.",
        tools=[_TOOL],
        max_tokens=512,
        effort="low",
        vendors=("openai-chat",),
    ),
    "openai-responses_1": Scenario(
        "recorded",
        [_ASKED, assistant(thought("hmm", "ZW5j"), "calling", *_CALLS), _RESULTS],
        system="You are terse.",
        tools=[_TOOL],
        max_tokens=512,
        effort="low",
        cache="short",
        vendors=("openai-responses",),
    ),
    "anthropic_1": Scenario(
        "recorded",
        [
            _ASKED,
            assistant(thought("hmm"), "calling", *_CALLS),
            results(result("t0", "r0"), result("t1", "r1"), failed("t2", "boom", "it broke")),
        ],
        system="You are terse.",
        tools=[_TOOL],
        max_tokens=2048,
        model="claude-opus-4-5",
        effort="low",
        cache="short",
        vendors=("anthropic",),
    ),
    "anthropic-adaptive_1": Scenario(
        "recorded-adaptive", [user("hi")], max_tokens=64, effort="low", vendors=("anthropic",)
    ),
    "gemini_1": Scenario(
        "recorded",
        [_ASKED, assistant(thought("hmm", "sig"), *_CALLS), _RESULTS],
        system="You are terse.",
        tools=[_TOOL],
        max_tokens=512,
        vendors=("google",),
    ),
    "ollama_1": Scenario(
        "recorded",
        [_ASKED, assistant(thought("hmm"), "calling", *_CALLS), _RESULTS],
        system="You are terse.",
        tools=[_TOOL],
        max_tokens=512,
        vendors=("ollama",),
    ),
    "openai-chat-structured_1": Scenario(
        "recorded-structured",
        [user("hi")],
        system="s",
        output=_ANSWER,
        model="m",
        vendors=("openai-chat",),
    ),
    "openai-responses-structured_1": Scenario(
        "recorded-structured",
        [user("hi")],
        output=_ANSWER,
        model="m",
        vendors=("openai-responses",),
    ),
    "gemini-structured_1": Scenario(
        "recorded-structured", [user("hi")], output=_ANSWER, effort="low", vendors=("google",)
    ),
    "ollama-structured_1": Scenario(
        "recorded-structured",
        [user("hi")],
        output=_ANSWER,
        model="m",
        effort="low",
        vendors=("ollama",),
    ),
}


def recorded_request(name: str) -> Exchange:
    """The request that was recorded for a transcript, with our key where its own was taken out."""
    kept = json.loads(shared(f"difftest/{name}.json").read_text(encoding="utf-8"))
    headers = {header.lower(): value for header, value in kept["headers"].items()}
    for header in [header for header, value in headers.items() if value == "<redacted>"]:
        headers[header] = f"Bearer {KEY}" if header == "authorization" else KEY
    return Exchange(kept["path"], headers, json.dumps(kept["body"]).encode())
