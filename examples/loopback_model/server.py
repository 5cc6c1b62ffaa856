"""The HTTP side: one loopback endpoint that streams chat completions."""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from examples.loopback_model import actions
from examples.loopback_model.conversation import Exchange, read_exchanges, text_of
from examples.loopback_model.errors import RequestError
from examples.loopback_model.knowledge import learn
from examples.loopback_model.policy import Turn, next_turn
from examples.loopback_model.referee import Referee, load_project
from examples.loopback_model.request import ChatRequest, UserMessage, read_request
from examples.loopback_model.stream import events

MODEL = "loopback-1"
MAX_BODY_BYTES = 8 * 1024 * 1024

Job = Callable[[str, Sequence[Exchange]], Turn]
"""What a model can do: from the task and what was done for it so far, the next turn.

It raises RequestError where a result is wrong.
"""


def repair() -> Job:
    """The job of repairing `examples/project`."""
    project = load_project()

    def next_step(_task: str, exchanges: Sequence[Exchange]) -> Turn:
        Referee(project).check(exchanges)
        return next_turn(learn(exchanges))

    return next_step


class ModelServer(ThreadingHTTPServer):
    """Serves `/v1/models` and `/v1/chat/completions` on 127.0.0.1.

    Args:
        port: Where to listen; 0 takes any free port.
        job: What the model can do; by default the repair.
        delay_seconds: Pause before each event of an answer, so that a person sees it stream.
    """

    daemon_threads = True

    def __init__(
        self, port: int = 0, *, job: Job | None = None, delay_seconds: float = 0.0
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.delay_seconds = delay_seconds
        self._job = job or repair()

    @property
    def base_url(self) -> str:
        """What a client takes as the vendor's base URL."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def answer(self, body: bytes) -> Iterable[bytes]:
        """The events that answer one request, decided from that request alone.

        Raises:
            RequestError: The request is malformed or a tool result in it is wrong.
        """
        request = read_request(body)
        if request.model != MODEL:
            raise RequestError(
                f"The model '{request.model}' does not exist; there is '{MODEL}'.",
                code="model_not_found",
                status=404,
            )
        exchanges = read_exchanges(request.messages)
        turn = self._job(_task(request), exchanges)
        actions.refuse_unknown_tools(turn.calls, request.tools)
        return events(request, turn, prompt_characters=len(body))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelServer  # pyright: ignore[reportIncompatibleVariableOverride] - the only server
    disable_nagle_algorithm: ClassVar[bool] = True

    def do_GET(self) -> None:
        try:
            self._authorize()
            if self.path != "/v1/models":
                raise _no_such_path(self.path)
            model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "agentslot"}
            self._json(200, {"object": "list", "data": [model]})
        except RequestError as refusal:
            self._json(refusal.status, refusal.body())

    def do_POST(self) -> None:
        try:
            body = self._body()
            self._authorize()
            if self.path != "/v1/chat/completions":
                raise _no_such_path(self.path)
            self._stream(self.server.answer(body))
        except RequestError as refusal:
            self._json(refusal.status, refusal.body())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Print nothing: the client gets every problem in its answer."""

    def _authorize(self) -> None:
        scheme, _, key = self.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or not key.strip():
            raise RequestError(
                "You didn't provide an API key in the header 'Authorization: Bearer KEY'.",
                code="invalid_api_key",
                status=401,
            )

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True  # the unread body would be taken for the next request
            raise RequestError(f"The request needs a length of at most {MAX_BODY_BYTES} bytes.")
        return self.rfile.read(int(length))

    def _stream(self, parts: Iterable[bytes]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for part in parts:
                time.sleep(self.server.delay_seconds)
                self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")
        except ConnectionError:
            self.close_connection = True  # the client has gone, which is its right

    def _json(self, status: int, value: Mapping[str, object]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _task(request: ChatRequest) -> str:
    """What the person asked for first."""
    asked = (each for each in request.messages if isinstance(each, UserMessage))
    return next((text_of(each.content) for each in asked), "")


def _no_such_path(path: str) -> RequestError:
    return RequestError(f"Unknown request URL: {path}", code="unknown_url", status=404)
