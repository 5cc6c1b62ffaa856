"""A turn as the vendor's stream of events."""

import json
import re
import secrets
import time
from collections.abc import Iterator, Mapping

from examples.loopback_model.policy import Turn
from examples.loopback_model.request import ChatRequest

CHARACTERS_PER_TOKEN = 4
_ARGUMENT_PIECE = 7  # characters; no multiple of anything, so that names and escapes are cut


def events(request: ChatRequest, turn: Turn, prompt_characters: int) -> Iterator[bytes]:
    """Yield each server-sent event of the answer, `[DONE]` last."""
    head = {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": request.model,
    }
    include_usage = request.stream_options.include_usage
    for choice in _choices(turn):
        yield _event(head | {"choices": [choice]} | ({"usage": None} if include_usage else {}))
    if include_usage:
        no_choices: list[object] = []
        yield _event(head | {"choices": no_choices, "usage": _usage(turn, prompt_characters)})
    yield b"data: [DONE]\n\n"


def _choices(turn: Turn) -> Iterator[Mapping[str, object]]:
    yield _choice({"role": "assistant", "content": "", "refusal": None})
    for word in re.findall(r"\s*\S+", turn.text):
        yield _choice({"content": word})
    for index, call in enumerate(turn.calls):
        function = {"name": call.name, "arguments": ""}
        opening = {"index": index, "id": call.id, "type": "function", "function": function}
        yield _choice({"tool_calls": [opening]})
        arguments = json.dumps(call.arguments)
        for start in range(0, len(arguments), _ARGUMENT_PIECE):
            piece = {"arguments": arguments[start : start + _ARGUMENT_PIECE]}
            yield _choice({"tool_calls": [{"index": index, "function": piece}]})
    yield _choice({}, "tool_calls" if turn.calls else "stop")


def _choice(delta: Mapping[str, object], finish_reason: str | None = None) -> Mapping[str, object]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}


def _usage(turn: Turn, prompt_characters: int) -> Mapping[str, object]:
    written = len(turn.text) + sum(
        len(call.name) + len(json.dumps(call.arguments)) for call in turn.calls
    )
    prompt = -(-prompt_characters // CHARACTERS_PER_TOKEN)
    completion = -(-written // CHARACTERS_PER_TOKEN)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def _event(data: Mapping[str, object]) -> bytes:
    return b"data: " + json.dumps(data, separators=(",", ":")).encode() + b"\n\n"
