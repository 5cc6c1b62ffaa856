"""The canonical transcripts: what is asked of every vendor, in no vendor's words.

A transcript is plain JSON, since the vendors' clients read it in another process.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Json = Mapping[str, Any]

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
)
SILENCE = base64.b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==")
VENDORS = ("openai-chat", "openai-responses", "anthropic", "google", "ollama")
_THINKS = ("openai-responses", "anthropic", "google")
"""Vendors whose thinking goes back with something that proves its origin."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One request.

    Attributes:
        turns: what was said; see `user`, `assistant` and `results`.
        effort: how much the model shall think.
        budget: the tokens that `effort` stands for, on models that count them.
        cache: how long the vendor shall keep the beginning.
        output: the schema that the vendor shall hold the answer to.
        must_call: whether the model has to call a tool; the last one then brings the answer.
        tier: what to be served by, in the words of the vendor.
        stop: texts before which the answer shall end.
        model: the model to ask, where it is not the vendor's usual one.
        vendors: whom it is asked of.
    """

    name: str
    turns: Sequence[Json]
    system: str | None = None
    tools: Sequence[Json] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    effort: Literal["low", "medium", "high"] | None = None
    budget: int | None = None
    cache: Literal["short", "long"] | None = None
    output: Json | None = None
    must_call: bool | None = None
    tier: str | None = None
    stop: Sequence[str] = ()
    model: str | None = None
    vendors: Sequence[str] = VENDORS

    def options(self) -> dict[str, Any]:
        """What is asked for, as JSON; what is not asked for is left out."""
        given = asdict(self)
        del given["vendors"]
        return {name: value for name, value in given.items() if value not in (None, (), [])}


def user(*parts: str | Json) -> Json:
    """A user's message of texts, pictures and sounds."""
    return {"role": "user", "parts": [_part(part) for part in parts]}


def assistant(*parts: str | Json) -> Json:
    """An answer of texts, thoughts and calls, in the order in which the model wrote them."""
    return {"role": "assistant", "parts": [_part(part) for part in parts]}


def results(*given: Json) -> Json:
    """What the tools gave back, in the order of the calls."""
    return {"role": "results", "results": list(given)}


def picture() -> Json:
    """A red dot."""
    return {"kind": "picture", "data": base64.b64encode(PIXEL).decode(), "type": "image/png"}


def sound() -> Json:
    """A moment of silence."""
    return {"kind": "sound", "data": base64.b64encode(SILENCE).decode(), "type": "audio/wav"}


def thought(text: str, proof: str = "c2ln") -> Json:
    """A thought, with what proves that the model had it."""
    return {"kind": "thought", "text": text, "proof": proof}


def call(token: str, arguments: str = "{}", name: str = "look") -> Json:
    """A call with its arguments as the model wrote them."""
    return {"kind": "call", "id": token, "name": name, "arguments": arguments}


def result(token: str, text: str, name: str = "look") -> Json:
    """A tool's result."""
    return {"id": token, "name": name, "text": text}


def failed(token: str, code: str, message: str, name: str = "look") -> Json:
    """A tool's failure, with the text that tells of it."""
    text = f"Error ({code}): {message}"
    return {"id": token, "name": name, "text": text, "error": {"code": code, "message": message}}


def shown(token: str, text: str, name: str = "look") -> Json:
    """A result with a picture, and the line that names it."""
    line = f"[artifact shot.png: image/png, {len(PIXEL)} bytes, id shot]"
    whole = f"{json.dumps(text)[1:-1]}\n{line}"
    return {"id": token, "name": name, "text": whole, "output": text, "picture": picture()}


def tool(name: str = "look", schema: Json | None = None) -> Json:
    """A tool."""
    query = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    return {"name": name, "description": f"Does {name}.", "schema": schema or query}


def _part(part: str | Json) -> Json:
    return {"kind": "text", "text": part} if isinstance(part, str) else part


_RICH: Json = {
    "type": "object",
    "properties": {
        "unit": {"type": "string", "enum": ["°C", "°F", ""]},
        "share": {"type": "number", "minimum": 0.5, "maximum": 1.0},
        "many": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        "deep": {
            "type": "object",
            "description": 'Says "so".',
            "properties": {"maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            "additionalProperties": False,
        },
    },
    "required": ["unit", "deep"],
    "additionalProperties": False,
}
_ANSWER: Json = {
    "properties": {
        "x": {"title": "X", "type": "integer"},
        "tags": {"items": {"type": "string"}, "title": "Tags", "type": "array"},
    },
    "required": ["x", "tags"],
    "title": "Ans",
    "type": "object",
}
_NESTED: Json = {
    "$defs": {
        "Stop": {
            "properties": {
                "city": {"type": "string", "description": "Its name."},
                "when": {"type": "string", "format": "date"},
            },
            "required": ["city", "when"],
            "type": "object",
        }
    },
    "properties": {
        "stops": {"items": {"$ref": "#/$defs/Stop"}, "type": "array"},
        "kind": {"enum": ["work", "fun"]},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "back": {"$ref": "#/$defs/Stop"},
    },
    "required": ["stops", "kind", "note", "back"],
    "type": "object",
}
_LIMITED: Json = {
    "properties": {"share": {"type": "number", "minimum": 0, "maximum": 1}},
    "required": ["share"],
    "type": "object",
}
_NOTHING: Json = {"type": "object", "properties": {}}
_ODD = 'quotes " and \\ and /, \t tab, line\nend, é, 日本語, עברית, 👩🏽‍🚀, \u2028, \x7f, \x01'
_ASK = user("Look up a, b and c.")
_THREE = tuple(call(f"t{n}", json.dumps({"q": str(n)})) for n in range(3))


def _round(number: int, *before: Json) -> list[Json]:
    token = f"t{number}"
    return [
        assistant(*before, call(token, json.dumps({"q": f"page {number}"}))),
        results(result(token, f"page {number} says {number * number}")),
    ]


SCENARIOS = (
    Scenario("greeting", [user("hi")]),
    Scenario("system-prompt", [user("hi")], system="You are terse."),
    Scenario("conversation", [user("hi"), assistant("hello"), user("how are you?")]),
    Scenario("two-users", [user("first"), user("second")]),
    Scenario("two-texts", [user("first", "second")]),
    Scenario("characters", [user(_ODD), assistant(_ODD), user("again")], system=_ODD),
    Scenario("blank-texts", [user("hi", " "), assistant("hello"), user("", "go on")]),
    Scenario("picture", [user("what is this?", picture())]),
    Scenario("picture-first", [user(picture(), "and this?")], system="You see."),
    *(
        Scenario(name, turns, model=model, vendors=(vendor,))
        for vendor, model in (("openai-chat", "gpt-audio"), ("google", "gemini-3-pro"))
        for name, turns in (
            ("sound", [user("what is this?", sound())]),
            ("picture-and-sound", [user(picture(), sound(), "and this?"), user("go on")]),
        )
    ),
    Scenario("offered-tools", [user("hi")], tools=[tool(f"tool_{n}") for n in range(8)]),
    Scenario("rich-schema", [user("hi")], tools=[tool(schema=_RICH)]),
    Scenario(
        "one-call",
        [_ASK, assistant(call("t1", '{"q":"a"}')), results(result("t1", "found"))],
        tools=[tool()],
    ),
    Scenario(
        "parallel-calls",
        [
            _ASK,
            assistant("On it.", *_THREE),
            results(*(result(f"t{n}", f"found {n}") for n in range(3))),
        ],
        system="You are terse.",
        tools=[tool()],
    ),
    Scenario(
        "failed-call",
        [
            _ASK,
            assistant(*_THREE[:2]),
            results(result("t0", "found"), failed("t1", "not_found", "there is no b")),
        ],
        tools=[tool()],
    ),
    Scenario(
        "no-arguments",
        [_ASK, assistant(call("t1", "{}", "now")), results(result("t1", "12:00", "now"))],
        tools=[tool("now", _NOTHING)],
    ),
    Scenario(
        "empty-result",
        [_ASK, assistant(call("t1", '{"q":"a"}')), results(result("t1", ""))],
        tools=[tool()],
    ),
    Scenario(
        "spelled-arguments",
        [
            _ASK,
            assistant(call("t1", '{ "q" : 1.0e1, "n":12345678901234567890,"s":"\\u00e9\\/"}')),
            results(result("t1", "found")),
        ],
        tools=[tool()],
    ),
    Scenario(
        "picture-in-result",
        [_ASK, assistant(call("t1", '{"q":"a"}')), results(shown("t1", "seen"))],
        tools=[tool()],
    ),
    Scenario(
        "user-after-tools",
        [_ASK, *_round(1), user("and now b"), *_round(2), assistant("done"), user("thanks")],
        tools=[tool()],
    ),
    Scenario(
        "long-loop",
        [_ASK, *(turn for number in range(25) for turn in _round(number))],
        system="You are thorough.",
        tools=[tool()],
    ),
    Scenario("effort", [user("think")], effort="high", max_tokens=4096),
    Scenario("limit", [user("be short")], max_tokens=64),
    Scenario("temperature", [user("be wild")], temperature=0.25, vendors=("openai-chat", "ollama")),
    Scenario(
        "thinking",
        [user("hi"), assistant(thought("They greet."), "hello"), user("go on")],
        vendors=(*_THINKS, "openai-chat"),
        effort="low",
    ),
    Scenario(
        "thinking-with-calls",
        [
            _ASK,
            assistant(thought("Three searches."), "On it.", *_THREE),
            results(*(result(f"t{n}", f"found {n}") for n in range(3))),
        ],
        vendors=(*_THINKS, "openai-chat", "ollama"),
        tools=[tool()],
    ),
    Scenario(
        "thinking-in-a-loop",
        [_ASK, *(t for n in range(6) for t in _round(n, thought(f"Page {n}.", f"c2ln{n}")))],
        vendors=_THINKS,
        tools=[tool()],
    ),
    Scenario(
        "thinking-between-calls",
        [
            _ASK,
            assistant(thought("First a."), call("t1"), thought("Now b."), call("t2")),
            results(result("t1", "a"), result("t2", "b")),
        ],
        vendors=("openai-responses", "anthropic"),
        tools=[tool("look", _NOTHING)],
    ),
    Scenario(
        "budget",
        [user("think")],
        vendors=("anthropic",),
        model="claude-sonnet-4-5",
        effort="low",
        budget=2048,
        max_tokens=8192,
    ),
    Scenario("structured", [user("hi")], output=_ANSWER),
    Scenario("structured-nested", [user("hi")], output=_NESTED),
    Scenario("structured-limits", [user("hi")], output=_LIMITED),
    Scenario("structured-effort", [user("hi")], output=_ANSWER, effort="low", max_tokens=4096),
    Scenario(
        "structured-tools",
        [_ASK, *_round(1)],
        output=_ANSWER,
        tools=[tool()],
        vendors=("openai-chat", "openai-responses", "anthropic", "google"),
    ),
    Scenario(
        "answer-by-tool",
        [_ASK, *_round(1)],
        tools=[tool(), tool("final_answer", _RICH)],
        must_call=True,
        vendors=("openai-chat", "openai-responses", "anthropic", "google"),
    ),
    Scenario(
        "stop-sequences",
        [user("count")],
        stop=["END", "\n\n", "é"],
        vendors=("openai-chat", "anthropic", "google", "ollama"),
    ),
    *(
        Scenario(
            f"tier-{tier}",
            [_ASK, *_round(1)],
            system="You are patient.",
            tools=[tool()],
            tier=tier,
            vendors=("openai-chat", "openai-responses", "google"),
        )
        for tier in ("flex", "priority")
    ),
    *(
        Scenario(f"tier-{tier}", [user("hi")], tier=tier, vendors=("anthropic",))
        for tier in ("auto", "standard_only")
    ),
    *(
        Scenario(
            f"cache-{cache}",
            [_ASK, *_round(1), *_round(2), user("go on")],
            system="You are terse.",
            tools=[tool(), tool("other")],
            cache=cache,
            vendors=("anthropic", "openai-responses"),
        )
        for cache in ("short", "long")
    ),
)
