"""The answers in a transcript as each vendor would have sent them, for our decoders to read."""

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.difftest.scenarios import Json


def answer_of(vendor: str, parts: Sequence[Json]) -> bytes:
    """The body in which the vendor sends an answer of these parts."""
    return _BODIES[vendor](parts)


def _of_kind(parts: Sequence[Json], kind: str) -> list[Json]:
    return [part for part in parts if part["kind"] == kind]


def _joined(parts: Sequence[Json], kind: str) -> str:
    return "".join(part["text"] for part in _of_kind(parts, kind))


def _chat(parts: Sequence[Json]) -> bytes:
    calls = [
        {
            "id": part["id"],
            "type": "function",
            "function": {"name": part["name"], "arguments": part["arguments"]},
        }
        for part in _of_kind(parts, "call")
    ]
    message: dict[str, Any] = {"role": "assistant", "content": _joined(parts, "text")}
    message["reasoning_content"] = _joined(parts, "thought")
    message["tool_calls"] = calls
    finish = "tool_calls" if calls else "stop"
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}]}).encode()


def _responses(parts: Sequence[Json]) -> bytes:
    output = [_response_item(part) for part in parts]
    return json.dumps({"object": "response", "status": "completed", "output": output}).encode()


def _response_item(part: Json) -> Json:
    if part["kind"] == "text":
        return {"type": "message", "content": [{"type": "output_text", "text": part["text"]}]}
    if part["kind"] == "thought":
        summary = [{"type": "summary_text", "text": part["text"]}]
        proof = part["proof"]
        return {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": proof}
    arguments = {"name": part["name"], "arguments": part["arguments"]}
    return {"type": "function_call", "call_id": part["id"], **arguments}


def _anthropic(parts: Sequence[Json]) -> bytes:
    events: list[Json] = [{"type": "message_start", "message": {"model": "m"}}]
    for index, part in enumerate(parts):
        start, deltas = _anthropic_block(part)
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
        events.append({"type": "content_block_stop", "index": index})
    reason = "tool_use" if _of_kind(parts, "call") else "end_turn"
    events += [{"type": "message_delta", "delta": {"stop_reason": reason}}]
    events += [{"type": "message_stop"}]
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()


def _anthropic_block(part: Json) -> tuple[Json, list[Json]]:
    if part["kind"] == "text":
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": part["text"]}]
    if part["kind"] == "thought":
        proof = {"type": "signature_delta", "signature": part["proof"]}
        shown = {"type": "thinking_delta", "thinking": part["text"]}
        return {"type": "thinking", "thinking": "", "signature": ""}, [shown, proof]
    start: Json = {"type": "tool_use", "id": part["id"], "name": part["name"], "input": {}}
    return start, [{"type": "input_json_delta", "partial_json": part["arguments"]}]


def _google(parts: Sequence[Json]) -> bytes:
    """The proof of a thought stands at the part that it led to."""
    sent: list[str] = []
    proof = ""
    for part in parts:
        if part["kind"] == "thought":
            sent.append(json.dumps({"text": part["text"], "thought": True}))
            proof = base64.b64encode(part["proof"].encode()).decode()
            continue
        members = f',"thoughtSignature":"{proof}"' if proof else ""
        if part["kind"] == "text":
            sent.append(f'{{"text":{json.dumps(part["text"])}{members}}}')
        else:
            head = f'"id":"{part["id"]}","name":"{part["name"]}","args":{part["arguments"]}'
            sent.append(f'{{"functionCall":{{{head}}}{members}}}')
        proof = ""
    content = f'{{"role":"model","parts":[{",".join(sent)}]}}'
    return f'{{"candidates":[{{"content":{content},"finishReason":"STOP"}}]}}'.encode()


def _ollama(parts: Sequence[Json]) -> bytes:
    calls = ",".join(
        f'{{"function":{{"name":"{part["name"]}","arguments":{part["arguments"]}}}}}'
        for part in _of_kind(parts, "call")
    )
    content, thought = json.dumps(_joined(parts, "text")), json.dumps(_joined(parts, "thought"))
    message = f'{{"content":{content},"thinking":{thought},"tool_calls":[{calls}]}}'
    return f'{{"message":{message},"done":true,"done_reason":"stop"}}\n'.encode()


_BODIES: dict[str, Callable[[Sequence[Json]], bytes]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "google": _google,
    "ollama": _ollama,
}
