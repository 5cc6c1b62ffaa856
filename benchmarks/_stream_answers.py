"""The same answer, word by word, in the events of each vendor.

What changes from one event to the next decides what reading them costs: nothing but the word, noise
that hides its length, a number, the time, or the usage so far.
"""

import hashlib
import json
from collections.abc import Callable, Iterator

from agentslot._json import JsonValue

DELTAS = 500
WORDS = [f" word{number}" for number in range(DELTAS)]

Members = dict[str, JsonValue]


def _event(data: Members, name: str = "") -> bytes:
    line = json.dumps(data, separators=(",", ":"))
    return f"event: {name}\ndata: {line}\n\n".encode() if name else f"data: {line}\n\n".encode()


def _noise(word: str) -> str:
    """As OpenAI fills up its events to one length."""
    return hashlib.sha256(word.encode()).hexdigest()[: 16 - len(word)]


def _chunks(*, noise: bool) -> Iterator[bytes]:
    head: Members = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
    }
    for word in WORDS:
        choice: Members = {"index": 0, "delta": {"content": word}, "finish_reason": None}
        filled: Members = {"obfuscation": _noise(word)} if noise else {}
        yield _event({**head, "choices": [choice], "usage": None, **filled})
    last: Members = {"index": 0, "delta": {}, "finish_reason": "stop"}
    yield _event({**head, "choices": [last], "usage": None})
    usage: Members = {"prompt_tokens": 10, "completion_tokens": DELTAS, "total_tokens": DELTAS + 10}
    yield _event({**head, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def openai() -> Iterator[bytes]:
    """Chat completions: only the word changes."""
    return _chunks(noise=False)


def openai_noisy() -> Iterator[bytes]:
    """Chat completions as OpenAI itself sends them."""
    return _chunks(noise=True)


def openai_responses() -> Iterator[bytes]:
    """The Responses API: noise, and a number."""
    item: Members = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    names: Members = {"content_index": 0, "item_id": "msg_1", "output_index": 0}
    kind = "response.output_item.added"
    yield _event({"type": kind, "item": item, "output_index": 0, "sequence_number": 0}, kind)
    kind = "response.output_text.delta"
    for number, word in enumerate(WORDS, start=1):
        said: Members = {"delta": word, "logprobs": [], "obfuscation": _noise(word)}
        yield _event({"type": kind, **names, **said, "sequence_number": number}, kind)
    kind = "response.completed"
    usage: Members = {"input_tokens": 10, "output_tokens": DELTAS, "total_tokens": DELTAS + 10}
    output: list[JsonValue] = [
        {**item, "content": [{"type": "output_text", "text": "".join(WORDS)}]}
    ]
    response: Members = {
        "id": "1",
        "model": "m",
        "status": "completed",
        "output": output,
        "usage": usage,
    }
    yield _event({"type": kind, "response": response, "sequence_number": DELTAS + 1}, kind)


def anthropic() -> Iterator[bytes]:
    """The Messages API: only the word changes."""

    def named(kind: str, **members: JsonValue) -> bytes:
        return _event({"type": kind, **members}, kind)

    usage: Members = {"input_tokens": 10, "output_tokens": 1}
    message: Members = {"id": "1", "model": "m", "content": [], "usage": usage}
    yield named("message_start", message=message)
    yield named("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for word in WORDS:
        yield named("content_block_delta", index=0, delta={"type": "text_delta", "text": word})
    yield named("content_block_stop", index=0)
    ended: Members = {"output_tokens": DELTAS}
    yield named("message_delta", delta={"stop_reason": "end_turn"}, usage=ended)
    yield named("message_stop")


def google() -> Iterator[bytes]:
    """Gemini: the usage so far."""
    for number, word in enumerate(WORDS, start=1):
        content: Members = {"parts": [{"text": word}], "role": "model"}
        usage: Members = {
            "promptTokenCount": 10,
            "candidatesTokenCount": number,
            "totalTokenCount": number + 10,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}],
        }
        ended: Members = {"finishReason": "STOP"} if number == DELTAS else {}
        yield _event(
            {
                "candidates": [{"content": content, **ended, "index": 0}],
                "usageMetadata": usage,
                "modelVersion": "m",
                "responseId": "1",
            }
        )


def ollama() -> Iterator[bytes]:
    """Ollama: the time."""

    def line(number: int, **members: JsonValue) -> bytes:
        created = f"2026-12-01T10:00:{number // 20:02}.{number * 7919 % 10**6:06}Z"
        return json.dumps({"model": "m", "created_at": created, **members}).encode() + b"\n"

    for number, word in enumerate(WORDS):
        yield line(number, message={"role": "assistant", "content": word}, done=False)
    ended: Members = {"done_reason": "stop", "prompt_eval_count": 10, "eval_count": DELTAS}
    yield line(DELTAS, message={"role": "assistant", "content": ""}, done=True, **ended)


ANSWERS: dict[str, Callable[[], Iterator[bytes]]] = {
    "openai": openai,
    "openai-noisy": openai_noisy,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "google": google,
    "ollama": ollama,
}
"""By name, the body of an answer in the pieces in which it is sent: one event, one HTTP chunk."""
