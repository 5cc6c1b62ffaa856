"""Five vendors on 127.0.0.1: one server, a path for each protocol."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from examples.five_wires.dialects import DIALECTS, Dialect
from examples.five_wires.model import Conversation, next_turn


class Refused(Exception):  # noqa: N818 - named after what happened
    """The request is one that the vendor does not take."""


def answer(dialect: Dialect, body: bytes) -> bytes:
    """The whole stream with which a vendor answers.

    Raises:
        Refused: a call has no result, or thinking is not what its vendor signed.
    """
    said = dialect.read(json.loads(body))
    if said.calls != len(said.results):
        raise Refused(f"{said.calls} calls have {len(said.results)} results")
    _check_proofs(dialect, body, said)
    return dialect.write(next_turn(said))


def _check_proofs(dialect: Dialect, body: bytes, said: Conversation) -> None:
    foreign = [each.proof for each in DIALECTS if each.proof and each is not dialect]
    if stolen := [proof for proof in foreign if proof.encode() in body]:
        raise Refused(f"thinking of another model: {stolen[0]}")
    if said.answers_now and dialect.proof.encode() not in body:
        raise Refused("the thinking before the call is missing")


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        dialect = next((each for each in DIALECTS if each.path in self.path), None)
        if dialect is None:
            self._send(404, "application/json", b'{"error": {"message": "no such path"}}')
            return
        try:
            self._send(200, dialect.content_type, answer(dialect, body))
        except Refused as refusal:
            failure = {"error": {"type": "invalid_request_error", "message": str(refusal)}}
            self._send(400, "application/json", json.dumps(failure).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Print nothing: the client gets every problem in its answer."""

    def _send(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def vendors() -> Generator[str]:
    """Serve until the block ends; gives the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
