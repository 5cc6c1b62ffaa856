"""The private HTTP module, with each of the two libraries behind it."""

import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import anyio
import pytest

from agentslot import AgentSlotError
from agentslot._http import HttpError, HttpFailure, http_library, new_client, open_body
from tests.loopback import Answer, loopback

if TYPE_CHECKING:
    from agentslot._http import AsyncClient


@pytest.fixture(params=["httpx2", "httpx"], autouse=True)
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    http_library.cache_clear()
    if request.param == "httpx":
        monkeypatch.setitem(sys.modules, "httpx2", None)
    yield request.param
    http_library.cache_clear()


def test_the_installed_library_is_taken_and_httpx2_preferred(library: str) -> None:
    client = new_client(idle_seconds=1)
    assert type(client).__module__.split(".")[0] == library


async def test_a_body_arrives_in_pieces_and_the_environment_is_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    answer = Answer(b"x" * 10, status=201, chunk=4)
    async with loopback(answer) as server, new_client(idle_seconds=5) as client:
        body = await open_body(client, server.url, {"x-one": "1"}, b"{}")
        assert (body.status, body.headers["content-type"]) == (201, "text/event-stream")
        pieces = [await body.read() for _ in range(5)]
        assert b"".join(pieces) == b"x" * 10
        assert pieces[-1] == b""
        await body.aclose()
    assert server.requests[0].body == b"{}"
    assert server.requests[0].headers["x-one"] == "1"
    assert server.requests[0].headers["accept-encoding"] == "identity"
    assert server.requests[0].headers["user-agent"].startswith("agentslot")


async def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    answer = Answer(status=307, headers=[("location", "/elsewhere")])
    async with loopback(answer) as server, new_client(idle_seconds=5) as client:
        body = await open_body(client, server.url, {}, b"{}")
        await body.aclose()
    assert body.status == 307
    assert len(server.requests) == 1


async def failure_of(url: str, idle_seconds: float = 5) -> HttpError:
    async with new_client(idle_seconds=idle_seconds) as client:
        with pytest.raises(HttpError) as caught:
            await read_all(client, url)
    return caught.value


async def read_all(client: "AsyncClient", url: str) -> None:
    body = await open_body(client, url, {"authorization": "Bearer sk-secret"}, b"")
    try:
        while await body.read():
            pass
    finally:
        await body.aclose()


async def test_a_body_may_be_left_before_its_end() -> None:
    async with loopback(Answer(b"x" * 10, chunk=1, hang=True)) as server:
        async with new_client(idle_seconds=60) as client:
            body = await open_body(client, server.url, {}, b"")
            assert await body.read()
            with anyio.fail_after(20):
                await body.aclose()
                await body.aclose()
        await server.disconnected.wait()


async def test_cancelling_a_read_closes_the_connection() -> None:
    async with loopback(Answer(b"", hang=True)) as server, new_client(idle_seconds=60) as client:
        with anyio.CancelScope() as scope:
            body = await open_body(client, server.url, {}, b"")
            try:
                scope.cancel()
                await body.read()
            finally:
                await body.aclose()
        assert scope.cancelled_caught
        await server.disconnected.wait()


async def test_a_dropped_connection_is_broken() -> None:
    async with loopback(Answer(b"part", drop=True)) as server:
        assert (await failure_of(server.url)).failure is HttpFailure.BROKEN


async def test_silence_is_a_timeout() -> None:
    async with loopback(Answer(b"part", hang=True)) as server:
        assert (await failure_of(server.url, 0.05)).failure is HttpFailure.TIMEOUT


async def test_a_body_that_is_compressed_unasked_is_unreadable() -> None:
    async with loopback(Answer(b"plain", headers=[("content-encoding", "gzip")])) as server:
        assert (await failure_of(server.url)).failure is HttpFailure.UNREADABLE


async def test_a_closed_port_is_unreachable_and_the_message_holds_no_address() -> None:
    async with loopback(Answer()) as server:
        pass
    error = await failure_of(server.url)
    assert error.failure is HttpFailure.UNREACHABLE
    assert str(error) == "the server could not be reached"
    assert isinstance(error, AgentSlotError)


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "no url"])
async def test_a_request_that_cannot_be_sent_is_invalid(url: str) -> None:
    assert (await failure_of(url)).failure is HttpFailure.INVALID_REQUEST


def test_importing_the_module_imports_neither_library() -> None:
    program = "import agentslot._http, sys; print([m for m in sys.modules if 'httpx' in m])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
