"""Whole answers of each wire, made of what a model says and calls; see `stages.VENDORS`."""

import json
from typing import Any

from tests.model import test_anthropic_decoder as messages
from tests.model import test_google_decoder as google
from tests.model import test_ollama_decoder as ollama
from tests.model import test_responses_decoder as responses
from tests.model.stages import VENDORS, completions

Call = tuple[str, dict[str, Any]]


def answer(wire: str, text: str = "", *calls: Call) -> bytes:
    """What the vendor of that wire sends."""
    return _MAKERS[wire](text, calls)


def _chat(text: str, calls: tuple[Call, ...]) -> bytes:
    made = [
        {
            "index": index,
            "id": f"c{index}",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for index, (name, arguments) in enumerate(calls)
    ]
    deltas: list[dict[str, Any]] = [{"content": text}] if text else []
    deltas += [{"tool_calls": made}] if made else []
    return completions(*deltas, finish="tool_calls" if made else "stop")


def _messages(text: str, calls: tuple[Call, ...]) -> bytes:
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {}}]
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    events += messages.block(0, thought)
    if text:
        shown = {"type": "text_delta", "text": text}
        events += messages.block(1, {"type": "text", "text": ""}, shown)
    for index, (name, arguments) in enumerate(calls, 2):
        events += messages.tool_use(index, json.dumps(arguments), name=name)
    return messages.sse(*events, *messages.stop("tool_use" if calls else "end_turn"))


def _responses(text: str, calls: tuple[Call, ...]) -> bytes:
    items: list[dict[str, Any]] = [responses.text(0, text)] if text else []
    items += [
        responses.done(
            index, "function_call", call_id=f"c{index}", name=name, arguments=json.dumps(arguments)
        )
        for index, (name, arguments) in enumerate(calls, 1)
    ]
    return responses.sse(*items, responses.end("completed", *items))


def _google(text: str, calls: tuple[Call, ...]) -> bytes:
    made = [
        {"functionCall": {"name": name, "args": arguments}, "thoughtSignature": "c2ln"}
        for name, arguments in calls
    ]
    parts: list[Any] = [text] if text else []
    return google.sse(google.chunk(*parts, *made, finish="STOP"))


def _ollama(text: str, calls: tuple[Call, ...]) -> bytes:
    made = [{"function": {"name": name, "arguments": arguments}} for name, arguments in calls]
    more = {"tool_calls": made} if made else {}
    return ollama.lines(ollama.says(content=text, **more), ollama.DONE)


_MAKERS = {
    "openai-completions": _chat,
    "anthropic-messages": _messages,
    "openai-responses": _responses,
    "google-generative-ai": _google,
    "ollama-chat": _ollama,
}
assert _MAKERS.keys() == VENDORS.keys()
