"""What a request says, read back from each wire under the rules that its server checks.

A request that breaks a rule fails an assertion here. What it says comes out in one form for all
wires, so that the requests of two of them can be compared.
"""

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from agentslot._json import canonical_json

Body = dict[str, Any]


class Said(NamedTuple):
    """What one speaker said: a user, the assistant with its calls, or a tool."""

    role: str
    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()


def arguments_of(value: Any) -> str:
    """Arguments in a form that can be compared; they must be an object."""
    assert isinstance(value, dict)
    return canonical_json(json.dumps(value))


def joined(said: Iterable[Said]) -> list[Said]:
    """The same with what the assistant said in several messages as one."""
    whole: list[Said] = []
    for entry in said:
        if whole and entry.role == whole[-1].role == "assistant":
            last = whole.pop()
            entry = Said("assistant", last.text + entry.text, last.calls + entry.calls)
        whole.append(entry)
    return whole


def texts_of(blocks: Iterable[Body], kinds: Iterable[str] = ("text",)) -> str:
    """The texts of blocks, none of which may be blank."""
    texts = [block["text"] for block in blocks if block["type"] in kinds]
    assert all(text.strip() for text in texts)
    return "".join(texts)


def read_chat(body: Body) -> list[Said]:
    """Chat completions: results by id, directly behind their calls."""
    assert body["messages"]
    said: list[Said] = []
    waiting: list[str] = []
    for entry in body["messages"]:
        content, calls = entry["content"] or "", entry.get("tool_calls", [])
        text = content if isinstance(content, str) else texts_of(content)
        if entry["role"] == "tool":
            assert entry["tool_call_id"] == waiting.pop(0)
        else:
            assert not waiting
            waiting = [call["id"] for call in calls]
            assert all(re.fullmatch(r"[!-~]{1,64}", made) for made in waiting)
            assert len(set(waiting)) == len(waiting)
            assert calls or text.strip()
        made = [
            (c["function"]["name"], arguments_of(json.loads(c["function"]["arguments"])))
            for c in calls
        ]
        said.append(Said(entry["role"], text, tuple(made)))
    assert not waiting
    return [entry for entry in said if entry.role not in ("system", "developer")]


def read_strict_chat(body: Body) -> list[Said]:
    """Chat completions of Mistral and DeepSeek, where the assistant must not speak last."""
    assert body["messages"][-1]["role"] in ("user", "tool")
    return read_chat(body)


def read_messages(body: Body) -> list[Said]:
    """Anthropic: all results first in the message behind the calls; ids of one form, each once."""
    messages = body["messages"]
    assert messages[0]["role"] == messages[-1]["role"] == "user"
    said: list[Said] = []
    waiting: list[str] = []
    called: list[str] = []
    for entry in messages:
        blocks = entry["content"]
        results = [block for block in blocks if block["type"] == "tool_result"]
        calls = [block for block in blocks if block["type"] == "tool_use"]
        assert [result["tool_use_id"] for result in results] == waiting
        assert blocks[: len(results)] == results
        assert {block["type"] for block in blocks} - {"thinking", "redacted_thinking"}
        waiting = [call["id"] for call in calls]
        called += waiting
        said += [Said("tool", result.get("content", "")) for result in results]
        made = tuple((call["name"], arguments_of(call["input"])) for call in calls)
        text = texts_of(blocks)
        if text or made:
            said.append(Said(entry["role"], text, made))
    assert not waiting
    assert len(set(called)) == len(called)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", made) for made in called)
    return said


def read_responses(body: Body) -> list[Said]:
    """Responses: results by id, each id once; thinking only before what it led to."""
    said: list[Said] = []
    waiting: list[str] = []
    called: list[str] = []
    thinking = False
    for item in body["input"]:
        kind = item.get("type", "message")
        assert not thinking or kind not in ("reasoning", "function_call_output")
        assert not thinking or item.get("role", "assistant") == "assistant"
        thinking = kind == "reasoning"
        if kind == "message":
            text = texts_of(item["content"], ("input_text", "output_text"))
            assert item["role"] == "assistant" or not waiting
            said.append(Said(item["role"], text))
        elif kind == "function_call":
            waiting.append(item["call_id"])
            called.append(item["call_id"])
            arguments = arguments_of(json.loads(item["arguments"]))
            said.append(Said("assistant", "", ((item["name"], arguments),)))
        elif kind == "function_call_output":
            assert item["call_id"] == waiting.pop(0)
            said.append(Said("tool", item["output"]))
    assert body["input"]
    assert not waiting
    assert not thinking
    assert len(set(called)) == len(called)
    return said


def read_contents(body: Body) -> list[Said]:
    """Gemini: results by order, all in the content behind the calls; a user before each model.

    An unsigned call is refused by the newest models.
    """
    contents = body["contents"]
    assert contents[0]["role"] == contents[-1]["role"] == "user"
    said: list[Said] = []
    waiting: list[tuple[str, str | None]] = []
    for content in contents:
        parts = content["parts"]
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        assert [(result["name"], result.get("id")) for result in results] == waiting
        assert not results or len(results) == len(parts)
        assert content["role"] == "user" or said[-1].role != "assistant"
        waiting = [(call["name"], call.get("id")) for call in calls]
        signed = [part.get("thoughtSignature") for part in parts if "functionCall" in part]
        assert not signed or signed[0]
        texts = [part for part in parts if "text" in part and not part.get("thought")]
        assert all(part["text"].strip() or part.get("thoughtSignature") for part in texts)
        for result in results:
            [text] = result["response"].values()
            said.append(Said("tool", text))
        made = tuple((call["name"], arguments_of(call["args"])) for call in calls)
        text = "".join(part["text"] for part in texts)
        assert results or text.strip() or made
        if not results:
            said.append(Said("assistant" if content["role"] == "model" else "user", text, made))
    assert not waiting
    return said


def read_ollama(body: Body) -> list[Said]:
    """Ollama: results by order, directly behind their calls."""
    said: list[Said] = []
    waiting: list[str] = []
    assert body["messages"][-1]["role"] in ("user", "tool")
    for entry in body["messages"]:
        calls = [call["function"] for call in entry.get("tool_calls", [])]
        if entry["role"] == "tool":
            assert entry["tool_name"] == waiting.pop(0)
        else:
            assert not waiting
            waiting = [call["name"] for call in calls]
            assert calls or entry["content"].strip()
        made = tuple((call["name"], arguments_of(call["arguments"])) for call in calls)
        said.append(Said(entry["role"], entry["content"], made))
    assert not waiting
    return [entry for entry in said if entry.role != "system"]
