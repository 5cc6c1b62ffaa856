"""A small internet on loopback: 127.0.0.2 counts as public here, 127.0.0.1 is the inside."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import ByteStream, SocketAttribute

from agentslot import Application
from agentslot.session import ToolResult
from agentslot.tool import TOOLS, Tool, WebModule
from agentslot.tool.web import Resolve

PUBLIC = "127.0.0.2"
INSIDE = "127.0.0.1"
OPEN = [f"{PUBLIC}/32"]


@dataclass(frozen=True)
class Seen:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


def reply(
    body: bytes = b"", status: int = 200, content_type: str = "text/plain", **headers: str
) -> bytes:
    """A whole answer; `content_encoding=…` becomes a field."""
    fields = {"content-type": content_type, "content-length": str(len(body))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body


def redirect(location: str, status: int = 302) -> bytes:
    return reply(status=status, location=location)


Site = Callable[[Seen], bytes]
"""What a server says to a request; its last bytes are followed by the end of the connection."""


@dataclass
class Server:
    """Answers, and remembers who came."""

    site: Site
    flood: bytes = b""
    """Sent behind the answer again and again, until the client hangs up."""
    pause: float = 0
    port: int = 0
    seen: list[Seen] = field(default_factory=list[Seen])
    accepted: int = 0
    hung_up: anyio.Event = field(default_factory=anyio.Event)

    async def serve(self, stream: ByteStream) -> None:
        self.accepted += 1
        async with stream:
            try:
                self.seen.append(request := await _received(stream))
                await stream.send(self.site(request))
                while self.flood:
                    await stream.send(self.flood)
                    await anyio.sleep(self.pause)
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                self.hung_up.set()


async def _received(stream: ByteStream) -> Seen:
    received = b""
    while b"\r\n\r\n" not in received:
        received += await stream.receive()
    head, _, body = received.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (h.partition(":") for h in rest)}
    while len(body) < int(headers.get("content-length", "0")):
        body += await stream.receive()
    method, path, _ = first.split(" ")
    return Seen(method, path, headers, body)


@asynccontextmanager
async def serving(*servers: Server, host: str = PUBLIC) -> AsyncGenerator[None]:
    """Let the servers listen at `host`, each at a port of its own."""
    async with AsyncExitStack() as stack, anyio.create_task_group() as tasks:
        for server in servers:
            listener = await anyio.create_tcp_listener(local_host=host)
            stack.push_async_callback(listener.aclose)
            server.port = listener.extra(SocketAttribute.local_port)
            tasks.start_soon(listener.serve, server.serve)
        yield
        tasks.cancel_scope.cancel()


class Names:
    """A name server: what each name leads to, one list of addresses after the other."""

    def __init__(self, **answers: Sequence[Sequence[str]] | str) -> None:
        self._answers = {
            name.replace("_", "."): [[found]] if isinstance(found, str) else list(found)
            for name, found in answers.items()
        }
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self._answers[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


def tool(name: str, resolve: Resolve | None = None, **options: Any) -> Tool:
    """A tool of a WebModule for which loopback's public half is open."""
    settings: dict[str, Any] = {"allow_http": True, "private_networks": OPEN, **options}
    return Application("web", [WebModule(resolve=resolve, **settings)]).build()[TOOLS][name]


def fetch_tool(resolve: Resolve | None = None, **options: Any) -> Tool:
    return tool("fetch_url", resolve, **options)


def code(result: ToolResult) -> str:
    assert result.error is not None, result.output
    return result.error.code


def message(result: ToolResult) -> str:
    assert result.error is not None, result.output
    return result.error.message
