"""A server on 127.0.0.1 that records requests and replays recorded answers."""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

KEY = "sk-test"
SESSION = "session-1"
_PROTOCOL_HEADERS = ("authorization", "x-api-key", "x-goog-api-key", "content-type")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request as it was sent.

    Attributes:
        path: behind the name that the client was given.
        headers: names in lower case.
    """

    path: str
    headers: Mapping[str, str]
    body: bytes

    def document(self) -> bytes:
        """Path, header fields of the protocol and body as one document, to be compared."""
        headers = {
            name: value
            for name, value in self.headers.items()
            if name in _PROTOCOL_HEADERS or name.startswith("anthropic-")
        }
        head = json.dumps({"path": self.path, "headers": headers})
        return head[:-1].encode() + b',"body":' + self.body + b"}"


@dataclass
class Recorder:
    """What the server got, by name; and what it answers.

    The first part of a path is the name. A request whose name has an answer gets it, any other one
    is kept and refused: nobody needs an answer to know what was asked.
    """

    answers: Mapping[str, bytes]
    url: str = ""
    requests: dict[str, Exchange] = field(default_factory=dict[str, Exchange])

    def take(self, path: str, headers: Mapping[str, str], body: bytes) -> bytes | None:
        """Take a request in; returns its answer, if there is one."""
        name, _, rest = path.removeprefix("/").partition("/")
        if name not in self.answers:
            self.requests[name] = Exchange(f"/{rest}", headers, body)
        return self.answers.get(name)


@contextmanager
def recorder(answers: Mapping[str, bytes]) -> Generator[Recorder]:
    """Serve until the block ends."""
    kept = Recorder(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = kept.take(self.path, headers, body)
            self.send_response(400 if answer is None else 200)
            streams = answer is not None and not answer.startswith(b"{")
            kind = "text/event-stream" if streams else "application/json"
            self.send_header("content-type", kind)
            self.end_headers()
            self.wfile.write(b'{"error":{"message":"recorded"}}' if answer is None else answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    kept.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield kept
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
