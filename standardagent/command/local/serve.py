"""The child that holds a model: llama.cpp's server, for as long as standard input is open.

It is run as a file and imports nothing of ours, so that it starts at once. The first line of its
input is a JSON object with `file`, `context_tokens`, `threads` and `key`. On its output comes what
llama.cpp has to say while it loads, then one JSON object with `url`, `context_tokens` and
`calls_tools`. When its input ends, however its parent ended, it ends too.
"""

import json
import os
import signal
import sys
from http.client import HTTPConnection
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

_ERRORS_ONLY = 1


def serve(file: str, context_tokens: int, threads: int, key: str) -> None:
    """Load the model, say where it is served, and wait for the end of the input."""
    llama: Any = import_module("xllamacpp")  # an extra, whose interface has no types
    settings = llama.CommonParams()
    settings.model.path = file
    settings.n_ctx = context_tokens  # lowered to what the model was trained for
    settings.n_parallel = 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    settings.port = 0  # a free one
    settings.api_keys = [key]
    settings.ui = False
    settings.verbosity = _ERRORS_ONLY
    server = llama.Server(settings)
    url = server.listening_address
    print(json.dumps({"url": url, **_properties(url, key)}), flush=True)
    _fall_silent()
    sys.stdin.buffer.read()
    os._exit(0)  # an answer that is still being written is not waited for


def _properties(url: str, key: str) -> dict[str, object]:
    connection = HTTPConnection(urlsplit(url).netloc)
    connection.request("GET", "/props", headers={"Authorization": f"Bearer {key}"})
    found = json.load(connection.getresponse())
    connection.close()
    template = found["chat_template_caps"]
    return {
        "context_tokens": found["default_generation_settings"]["n_ctx"],
        "calls_tools": template["supports_tools"] and template["supports_tool_calls"],
    }


def _fall_silent() -> None:
    """From here on nobody reads the output."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who decides
    serve(**json.loads(sys.stdin.buffer.readline()))
