"""A stand-in for llama.cpp: the same interface, and an answer that it has ready.

The name of the model's file says how it behaves: `broken` cannot be loaded, `endless` is never
loaded, `tools` has a chat template that knows tools. Its port is written to the pipe `port` beside
the file, if there is one.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

_TEXT = "Hello from this machine."


class CommonParams(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(
            model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace()
        )


class Server:
    def __init__(self, settings: Any) -> None:
        kind = Path(settings.model.path).stem
        if kind == "broken":
            print("0.00.001.000 W gguf: this is odd", file=sys.stderr)
            print("0.00.001.001 E gguf: invalid magic characters", file=sys.stderr)
            print("0.00.001.002 E srv: exiting due to that", file=sys.stderr)
            raise RuntimeError("Failed to init server")

        class Handler(_Handler):
            keys = settings.api_keys
            window = min(settings.n_ctx, 8192)
            tools = kind == "tools"

        server = ThreadingHTTPServer(("127.0.0.1", settings.port), Handler)
        beside = Path(settings.model.path).with_name("port")
        if beside.is_fifo():
            beside.write_text(str(server.server_port), encoding="utf-8")
        if kind == "endless":
            threading.Event().wait()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{server.server_port}"


class _Handler(BaseHTTPRequestHandler):
    keys: list[str]
    window: int
    tools: bool

    def do_GET(self) -> None:
        caps = {"supports_tools": self.tools, "supports_tool_calls": self.tools}
        settings = {"n_ctx": self.window}
        self._say({"chat_template_caps": caps, "default_generation_settings": settings})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert ("tools" in asked) == self.tools
        delta = {"delta": {"content": _TEXT}, "finish_reason": "stop"}
        self._say({"choices": [delta]}, "data: {}\n\ndata: [DONE]\n\n", "text/event-stream")

    def _say(self, value: object, form: str = "{}", kind: str = "application/json") -> None:
        known = self.headers["authorization"] in [f"Bearer {key}" for key in self.keys]
        body = form.replace("{}", json.dumps(value)).encode() if known else b"{}"
        self.send_response(200 if known else 401)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
