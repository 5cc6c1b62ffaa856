"""A scripted HTTP server on 127.0.0.1: one canned answer per request, cut and broken at will."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream


@dataclass(frozen=True)
class Answer:
    """What the server says to one request.

    `chunk` cuts the body into pieces of that size; `hang` keeps the body open after the last byte;
    `drop` closes the connection without ending the body, `keep` leaves it open behind the body;
    `mute` sends nothing at all. `after_piece` is awaited behind each piece, with the bytes of the
    body that were sent.
    """

    body: bytes = b""
    status: int = 200
    content_type: str = "text/event-stream"
    headers: Sequence[tuple[str, str]] = ()
    chunk: int = 0
    hang: bool = False
    drop: bool = False
    keep: bool = False
    mute: bool = False
    after_piece: Callable[[int], Awaitable[None]] | None = None


@dataclass(frozen=True)
class Request:
    """What the server got."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


Reply = Answer | Callable[[Request], Answer]
"""An answer, or what makes one of the request."""


@dataclass
class Loopback:
    """A running server; request n gets answer n, the last one repeats."""

    answers: Sequence[Reply]
    url: str = ""
    requests: list[Request] = field(default_factory=list[Request])
    connections: int = 0
    disconnected: anyio.Event = field(default_factory=anyio.Event)

    async def serve(self, stream: SocketStream) -> None:
        self.connections += 1
        async with stream:
            try:
                kept = True
                while kept:
                    self.requests.append(await _receive(stream))
                    kept = await self._answer(stream, len(self.requests) - 1)
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                self.disconnected.set()

    async def _answer(self, stream: SocketStream, number: int) -> bool:
        reply = self.answers[min(number, len(self.answers) - 1)]
        answer = reply if isinstance(reply, Answer) else reply(self.requests[number])
        if answer.mute:
            await stream.receive()  # ends when the client hangs up
        lines = [f"HTTP/1.1 {answer.status} X", f"content-type: {answer.content_type}"]
        lines += ["transfer-encoding: chunked"]
        lines += [] if answer.keep else ["connection: close"]
        lines += [f"{name}: {value}" for name, value in answer.headers]
        await stream.send("\r\n".join([*lines, "", ""]).encode())
        step = answer.chunk or max(len(answer.body), 1)
        for start in range(0, len(answer.body), step):
            piece = answer.body[start : start + step]
            await stream.send(b"%x\r\n%s\r\n" % (len(piece), piece))
            if answer.after_piece is not None:
                await answer.after_piece(start + len(piece))
        if answer.hang:
            await stream.receive()  # ends when the client hangs up
        if not answer.drop:
            await stream.send(b"0\r\n\r\n")
        return answer.keep


async def _receive(stream: SocketStream) -> Request:
    received = b""
    while b"\r\n\r\n" not in received:
        received += await stream.receive()
    head, _, body = received.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (h.partition(":") for h in rest)}
    while len(body) < int(headers.get("content-length", "0")):
        body += await stream.receive()
    method, path, _ = first.split(" ")
    return Request(method, path, headers, body)


@asynccontextmanager
async def loopback(*answers: Reply) -> AsyncGenerator[Loopback]:
    """Serve `answers` until the block ends."""
    server = Loopback(answers)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as tasks:
        port = listener.extra(SocketAttribute.local_port)
        server.url = f"http://127.0.0.1:{port}"
        tasks.start_soon(listener.serve, server.serve)
        yield server
        tasks.cancel_scope.cancel()
