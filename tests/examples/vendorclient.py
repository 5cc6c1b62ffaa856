"""A minimal client of a chat-completions vendor, and an agent loop by hand on top of it."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.examples.workshop import JsonObject, Workshop


def _tool(name: str, *properties: str) -> JsonObject:
    parameters: JsonObject = {
        "type": "object",
        "properties": {each: {"type": "string"} for each in properties},
        "required": list(properties),
        "additionalProperties": False,
    }
    function = {"name": name, "description": name, "parameters": parameters}
    return {"type": "function", "function": function}


TOOLS = [
    _tool("bash", "command"),
    _tool("file_read", "path"),
    _tool("file_edit", "path", "edits", "expected_sha256"),
]


class RefusedError(Exception):
    """The vendor's answer was an HTTP error."""

    def __init__(self, status: int, error: JsonObject) -> None:
        super().__init__(f"{status}: {error['message']}")
        self.status = status
        self.error = error


@dataclass
class Answer:
    """The chunks of one stream, and what they add up to."""

    chunks: list[JsonObject] = field(default_factory=list[JsonObject])
    text: str = ""
    calls: list[JsonObject] = field(default_factory=list[JsonObject])
    finish_reason: str | None = None
    usage: JsonObject | None = None

    def add(self, chunk: JsonObject) -> None:
        self.chunks.append(chunk)
        self.usage = chunk.get("usage") or self.usage
        for choice in chunk["choices"]:
            self.finish_reason = choice["finish_reason"]
            self.text += choice["delta"].get("content") or ""
            for piece in choice["delta"].get("tool_calls", ()):
                if "id" in piece:
                    assert piece["index"] == len(self.calls)
                    self.calls.append({name: piece[name] for name in ("id", "type", "function")})
                else:
                    self.calls[piece["index"]]["function"]["arguments"] += piece["function"][
                        "arguments"
                    ]

    @property
    def message(self) -> JsonObject:
        calls = {"tool_calls": self.calls} if self.calls else {}
        return {"role": "assistant", "content": self.text, **calls}


def new_messages() -> list[JsonObject]:
    return [
        {"role": "system", "content": "You repair small Python projects."},
        {"role": "user", "content": "The tests of this project fail. Please repair it."},
    ]


def request_body(messages: list[JsonObject], **changes: Any) -> JsonObject:
    return {
        "model": "loopback-1",
        "messages": messages,
        "tools": TOOLS,
        "stream": True,
        "stream_options": {"include_usage": True},
        **changes,
    }


def post(base_url: str, body: JsonObject | bytes, *, key: str | None = "secret") -> Answer:
    answer = Answer()
    for data in events(base_url, body, key=key):
        if data != "[DONE]":
            answer.add(json.loads(data))
    return answer


def events(base_url: str, body: JsonObject | bytes, *, key: str | None = "secret") -> Iterator[str]:
    encoded = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    url = f"{base_url}/chat/completions"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, encoded, headers)) as response:
            assert response.headers["Content-Type"].startswith("text/event-stream")
            for block in response.read().decode().removesuffix("\n\n").split("\n\n"):
                yield block.removeprefix("data: ")
    except urllib.error.HTTPError as error:
        with error:
            raise RefusedError(error.code, json.load(error)["error"]) from None


def ask(base_url: str, messages: list[JsonObject]) -> Answer:
    """Request the next turn and append it."""
    answer = post(base_url, request_body(messages))
    messages.append(answer.message)
    return answer


def run_calls(workshop: Workshop, answer: Answer) -> list[JsonObject]:
    """Run the calls of a turn for real; return their tool messages."""
    return [tool_message(call, workshop.run(call["function"])) for call in answer.calls]


def tool_message(call: JsonObject, content: str) -> JsonObject:
    return {"role": "tool", "tool_call_id": call["id"], "content": content}


def work_until(base_url: str, workshop: Workshop, messages: list[JsonObject], tool: str) -> Answer:
    """Work on until the model calls `tool`; its calls are asked for and not run."""
    while True:
        answer = ask(base_url, messages)
        assert answer.calls, f"the model ended without calling {tool}: {answer.text}"
        if answer.calls[0]["function"]["name"] == tool:
            return answer
        messages += run_calls(workshop, answer)


def work_to_the_end(base_url: str, workshop: Workshop, messages: list[JsonObject]) -> Answer:
    """Work on until the model reports."""
    while True:
        answer = ask(base_url, messages)
        if not answer.calls:
            return answer
        messages += run_calls(workshop, answer)
