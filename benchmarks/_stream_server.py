"""A vendor in a process of its own, whose answers cost nothing: prebuilt bytes, sent at once.

Called as `python -m benchmarks._stream_server`; prints its port and serves until it is killed. Each
delta is one event in one HTTP chunk, as vendors send them.
"""

import json
import socketserver
from collections.abc import Iterator

DELTAS = 500


def _events() -> Iterator[str]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    for number in range(DELTAS):
        delta = {"content": f" word{number}"}
        yield json.dumps({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield json.dumps({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    usage = {"prompt_tokens": 10, "completion_tokens": DELTAS, "total_tokens": DELTAS + 10}
    yield json.dumps({**head, "choices": [], "usage": usage})
    yield "[DONE]"


def _answer() -> bytes:
    pieces = [f"data: {event}\n\n".encode() for event in _events()]
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    return head + b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


ANSWER = _answer()


class _Connection(socketserver.StreamRequestHandler):
    """Answers request after request on one connection."""

    disable_nagle_algorithm = True

    def handle(self) -> None:
        while (length := self._read_head()) is not None:
            self.rfile.read(length)
            self.wfile.write(ANSWER)

    def _read_head(self) -> int | None:
        """The length of the body that follows; None when the client is gone."""
        length = None
        while (line := self.rfile.readline()).strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return length


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


if __name__ == "__main__":
    with _Server(("127.0.0.1", 0), _Connection) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()
