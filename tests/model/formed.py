"""Answers in a wanted form as each vendor sends them: as text or as a call, whole or cut off."""

import json
from collections.abc import Callable
from typing import Any

from agentslot.model.conformance.scene import IN_FORM
from tests.model import test_anthropic_decoder as messages
from tests.model import test_google_decoder as google
from tests.model import test_ollama_decoder as ollama
from tests.model import test_responses_decoder as responses

Formed = Callable[[str, bool], bytes]
"""Takes the name of the tool that is called, or an empty one, and whether the limit is met."""

VALUE: Any = json.loads(IN_FORM)


def _written(cut: bool) -> str:
    return IN_FORM[: len(IN_FORM) // 2] if cut else IN_FORM


def chat(tool: str, cut: bool) -> bytes:
    """As chat completions has it."""
    made = {"index": 0, "id": "c1", "function": {"name": tool, "arguments": _written(cut)}}
    delta = {"tool_calls": [made]} if tool else {"content": _written(cut)}
    finish = "length" if cut else "tool_calls" if tool else "stop"
    return responses.sse({"choices": [{"delta": delta, "finish_reason": finish}]})


def anthropic(tool: str, cut: bool) -> bytes:
    """As Messages has it."""
    said = {"type": "text_delta", "text": _written(cut)}
    text = messages.block(0, {"type": "text", "text": ""}, said)
    content = messages.tool_use(0, _written(cut), name=tool) if tool else text
    reason = "max_tokens" if cut else "tool_use" if tool else "end_turn"
    return messages.sse({"type": "message_start", "message": {}}, *content, *messages.stop(reason))


def gpt(tool: str, cut: bool) -> bytes:
    """As Responses has it."""
    written = _written(cut)
    item = responses.text(0, written)
    begun = [responses.delta(0, "output_text", written)]
    if tool:
        item = responses.done(0, "function_call", call_id="c1", name=tool, arguments=written)
        begun = []
    end = responses.end("completed", item)
    if cut:
        why = {"reason": "max_output_tokens"}
        end = responses.end("incomplete", item, incomplete_details=why)
    return responses.sse(*begun, item, end)


def gemini(tool: str, cut: bool) -> bytes:
    """As generateContent has it, where a call comes as a whole or not at all."""
    arguments: dict[str, Any] = {} if cut else VALUE
    part = {"functionCall": {"name": tool, "args": arguments}} if tool else _written(cut)
    return google.sse(google.chunk(part, finish="MAX_TOKENS" if cut else "STOP"))


def ollama_chat(tool: str, cut: bool) -> bytes:
    """As Ollama has it, where a call comes as a whole or not at all."""
    made = ollama.calling(tool, {} if cut else VALUE)
    said = made if tool else ollama.says(content=_written(cut))
    return ollama.lines(said, {**ollama.DONE, "done_reason": "length" if cut else "stop"})
