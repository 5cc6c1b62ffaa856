"""How each vendor reads a request and writes its answer, as far as this conversation needs it."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from examples.five_wires.model import Conversation, Turn

Json = dict[str, Any]  # foreign JSON, read by those who know its form
Said = tuple[str, str]
"""A question, a call or a result, and its text."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One protocol.

    Attributes:
        path: a part of the path of its requests.
        things: the questions, calls and results of a request, in order.
        events: the answer for a turn.
        proof: what the vendor signs its thinking with; empty if it does not.
    """

    path: str
    things: Callable[[Json], Iterable[Said]]
    events: Callable[[Turn], Iterable[Json]]
    proof: str = ""
    content_type: str = "text/event-stream"

    def read(self, request: Json) -> Conversation:
        """The conversation in a request."""
        said = list(self.things(request))
        texts = {kind: [text for k, text in said if k == kind] for kind in ("user", "tool", "call")}
        return Conversation(
            texts["user"], texts["tool"], len(texts["call"]), answers_now=said[-1][0] == "tool"
        )

    def write(self, turn: Turn) -> bytes:
        """The answer as a stream."""
        lines = [json.dumps(event) for event in self.events(turn)]
        if self.content_type != "text/event-stream":
            return "".join(f"{line}\n" for line in lines).encode()
        return "".join(f"data: {line}\n\n" for line in lines).encode()


def _chat_things(request: Json) -> Iterable[Said]:
    """Of chat completions and of Ollama."""
    for message in request["messages"]:
        yield from (("call", call["function"]["name"]) for call in message.get("tool_calls", ()))
        yield message["role"], message["content"]


def _chat_events(turn: Turn) -> Iterable[Json]:
    def chunk(delta: Json, finish: str | None = None) -> Json:
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "reasoning_content": turn.thought})
    if turn.city:
        function = {"name": "population", "arguments": turn.arguments}
        call = {"index": 0, "id": f"call_{turn.city}", "type": "function", "function": function}
        yield chunk({"tool_calls": [call]})
    else:
        yield chunk({"content": turn.text})
    yield chunk({}, "tool_calls" if turn.city else "stop")
    yield {"choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 10}}


def _ollama_events(turn: Turn) -> Iterable[Json]:
    def line(message: Json) -> Json:
        return {"model": "qwen3", "message": {"role": "assistant", **message}, "done": False}

    yield line({"content": "", "thinking": turn.thought})
    if turn.city:
        function = {"name": "population", "arguments": {"city": turn.city}}
        yield line({"content": "", "tool_calls": [{"function": function}]})
    else:
        yield line({"content": turn.text})
    usage = {"prompt_eval_count": 50, "eval_count": 10}
    yield {**line({"content": ""}), "done": True, "done_reason": "stop", **usage}


def _messages_things(request: Json) -> Iterable[Said]:
    for message in request["messages"]:
        for block in message["content"]:
            match block["type"]:
                case "tool_use":
                    yield "call", block["name"]
                case "tool_result":
                    yield "tool", block["content"]
                case "text":
                    yield message["role"], block["text"]
                case _:
                    pass


def _messages_events(turn: Turn) -> Iterable[Json]:
    usage = {"input_tokens": 50, "output_tokens": 10}
    yield {"type": "message_start", "message": {"model": "claude-sonnet-5", "usage": usage}}
    signed = {"type": "thinking", "thinking": turn.thought, "signature": _ANTHROPIC_PROOF}
    yield {"type": "content_block_start", "index": 0, "content_block": signed}
    yield {"type": "content_block_stop", "index": 0}
    block: Json = {"type": "text", "text": ""}
    delta: Json = {"type": "text_delta", "text": turn.text}
    if turn.city:
        block = {"type": "tool_use", "id": f"toolu_{turn.city}", "name": "population", "input": {}}
        delta = {"type": "input_json_delta", "partial_json": turn.arguments}
    yield {"type": "content_block_start", "index": 1, "content_block": block}
    yield {"type": "content_block_delta", "index": 1, "delta": delta}
    yield {"type": "content_block_stop", "index": 1}
    reason = "tool_use" if turn.city else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}
    yield {"type": "message_stop"}


def _responses_things(request: Json) -> Iterable[Said]:
    for item in request["input"]:
        match item.get("type", "message"):
            case "function_call":
                yield "call", item["name"]
            case "function_call_output":
                yield "tool", item["output"]
            case "message":
                yield item["role"], item["content"][0]["text"]
            case _:
                pass


def _responses_events(turn: Turn) -> Iterable[Json]:
    thought: Json = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": turn.thought}],
        "encrypted_content": _OPENAI_PROOF,
    }
    said: Json = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": turn.text}],
    }
    if turn.city:
        call = {"call_id": f"call_{turn.city}", "name": "population", "arguments": turn.arguments}
        said = {"type": "function_call", "id": "fc_1", **call}
    for index, item in enumerate((thought, said)):
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    usage = {"input_tokens": 50, "output_tokens": 10}
    response = {"id": "resp_1", "status": "completed", "output": [thought, said], "usage": usage}
    yield {"type": "response.completed", "response": response}


def _contents_things(request: Json) -> Iterable[Said]:
    for content in request["contents"]:
        for part in content["parts"]:
            if "functionCall" in part:
                yield "call", part["functionCall"]["name"]
            elif "functionResponse" in part:
                yield "tool", part["functionResponse"]["response"]["output"]
            elif not part.get("thought"):
                yield content["role"], part["text"]


def _contents_events(turn: Turn) -> Iterable[Json]:
    said: Json = {"text": turn.text}
    if turn.city:
        call = {"name": "population", "args": {"city": turn.city}}
        said = {"functionCall": call, "thoughtSignature": _GOOGLE_PROOF}
    parts = [{"text": turn.thought, "thought": True}, said]
    content = {"role": "model", "parts": parts}
    yield {
        "candidates": [{"content": content, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 50, "candidatesTokenCount": 10},
    }


_ANTHROPIC_PROOF, _OPENAI_PROOF, _GOOGLE_PROOF = (
    f"signed-by-{vendor}" for vendor in ("anthropic", "openai", "google")
)

DIALECTS = (
    Dialect("/v1/messages", _messages_things, _messages_events, _ANTHROPIC_PROOF),
    Dialect("/responses", _responses_things, _responses_events, _OPENAI_PROOF),
    Dialect(":streamGenerateContent", _contents_things, _contents_events, _GOOGLE_PROOF),
    Dialect("/chat/completions", _chat_things, _chat_events),
    Dialect("/api/chat", _chat_things, _ollama_events, content_type="application/x-ndjson"),
)
