"""A vendor in a process of its own, whose answers cost nothing: prebuilt bytes, sent at once.

Called as `python -m benchmarks._stream_server`; prints its port and serves until it is killed. The
first segment of a URL's path names the answer.
"""

import socketserver
from collections.abc import Iterable

from benchmarks._stream_answers import ANSWERS


def _sent(pieces: Iterable[bytes]) -> bytes:
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    return head + b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


SENT = {name.encode(): _sent(pieces()) for name, pieces in ANSWERS.items()}


class _Connection(socketserver.StreamRequestHandler):
    """Answers request after request on one connection."""

    disable_nagle_algorithm = True

    def handle(self) -> None:
        while line := self.rfile.readline():
            self.rfile.read(self._read_length())
            self.wfile.write(SENT[line.split(b"/")[1]])

    def _read_length(self) -> int:
        """Read the header fields; how long the body behind them is."""
        length = 0
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
