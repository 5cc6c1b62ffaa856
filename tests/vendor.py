"""A vendor for the documents: a chat completions server on 127.0.0.1 that can have sums added."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class _Vendor(BaseHTTPRequestHandler):
    """Asks for `add` once, then tells what came back."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        last = request["messages"][-1]
        if last["role"] == "tool":
            deltas: list[dict[str, Any]] = [{"content": "2+2 is "}, {"content": last["content"]}]
            finish = "stop"
        else:
            function = {"name": "add", "arguments": '{"a": 2, "b": 2}'}
            call = {"index": 0, "id": "call_1", "type": "function", "function": function}
            deltas, finish = [{"tool_calls": [call]}], "tool_calls"
        choices: list[dict[str, Any]] = [{"index": 0, "delta": delta} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": finish})
        usage = {"prompt_tokens": 40, "completion_tokens": 8, "total_tokens": 48}
        events = [{"choices": [choice]} for choice in choices] + [{"choices": [], "usage": usage}]
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass


@contextmanager
def vendor() -> Generator[str]:
    """Serve until the block ends; yields the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Vendor)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
