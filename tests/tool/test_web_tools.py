"""What the model reads of the web, and what it may send."""

import zlib
from typing import Any

import pytest

from agentslot import Application
from agentslot._extras import MissingExtra
from agentslot.tool import TOOLS, Effect, Tool, WebModule
from tests.tool.invoking import invoke, output
from tests.tool.webworld import OPEN, PUBLIC, Server, reply, serving

PAGE = b"""<html><head><title>T</title><style>p {}</style></head><body><h1>Hello</h1>
<script>alert(1)</script><p>See <a href="/x">this</a>.<ul><li>one<li>two</ul></body></html>"""


def tools(**options: Any) -> dict[str, Tool]:
    module = WebModule(allow_http=True, private_networks=OPEN, **options)
    return dict(Application("web", [module]).build()[TOOLS])


async def read(server: Server, **arguments: object) -> str:
    async with serving(server):
        url = f"http://{PUBLIC}:{server.port}/page"
        return output(await invoke(tools()["fetch_url"], url=url, **arguments))


async def test_a_page_is_read_as_text_with_whole_links() -> None:
    server = Server(lambda _: reply(PAGE, content_type="text/html; charset=utf-8"))
    assert await read(server) == (
        f"# Hello\n\nSee [this](http://{PUBLIC}:{server.port}/x).\n\n- one\n- two\n"
        f"[200 OK http://{PUBLIC}:{server.port}/page]"
    )


async def test_the_source_of_a_page_is_shown_on_request() -> None:
    server = Server(lambda _: reply(PAGE, content_type="text/html"))
    assert (await read(server, raw=True)).startswith(PAGE.decode())


async def test_a_page_in_an_old_encoding_is_read() -> None:
    server = Server(
        lambda _: reply("Gruß".encode("latin-1"), content_type="text/plain; charset=latin1")
    )
    assert (await read(server)).startswith("Gruß\n")


@pytest.mark.parametrize(
    ("content_type", "body"),
    [("image/png", b"\x89PNG"), ("text/plain", b"caf\xe9!"), ("application/octet-stream", b"ab")],
)
async def test_what_is_no_text_is_named_with_its_size(content_type: str, body: bytes) -> None:
    server = Server(lambda _: reply(body, content_type=content_type))
    text = await read(server)
    assert text.endswith(f"no text: {content_type}, {len(body)} bytes]")


@pytest.mark.parametrize(
    "charset", ["zlib", "hex", "rot13", "punycode", "unicode_escape", "no-such"]
)
async def test_a_charset_that_is_none_is_not_followed(charset: str) -> None:
    body = zlib.compress(b"a" * 100_000) if charset == "zlib" else b"6161"
    server = Server(lambda _: reply(body, content_type=f"text/plain; charset={charset}"))
    assert (await read(server)).endswith(f"no text: text/plain, {len(body)} bytes]")


async def test_a_long_text_tells_how_to_read_on_and_can_be() -> None:
    body = "".join(f"line {n} ä\n" for n in range(10_000))
    server = Server(lambda _: reply(body.encode(), content_type="text/plain"))
    pieces: list[str] = []
    start = 0
    while True:
        text = await read(server, start=start)
        shown, _, note = text.rpartition("\n[")
        pieces.append(shown)
        start += len(shown)
        if "continue with" not in note:
            break
        assert f"continue with start={start}" in note
    assert "".join(pieces) == body
    assert len(pieces) == 4 - 1


async def test_a_start_beyond_the_end_is_refused() -> None:
    server = Server(lambda _: reply(b"short"))
    async with serving(server):
        url = f"http://{PUBLIC}:{server.port}/"
        result = await invoke(tools()["fetch_url"], url=url, start=9)
    assert result.error is not None
    assert result.error.code == "offset_out_of_range"


async def test_a_request_shows_status_some_headers_and_the_body() -> None:
    server = Server(
        lambda _: reply(b'{"a": 1}', 404, "application/json", etag="x" * 500, set_cookie="s=1")
    )
    async with serving(server):
        host = f"{PUBLIC}:{server.port}"
        request = tools(request_hosts={host: {"Authorization": "Bearer secret"}})["http_request"]
        arguments = {"url": f"http://{host}/v1", "headers": {"authorization": "mine", "x": "1"}}
        text = output(await invoke(request, **arguments))
    assert text == (
        f"HTTP 404 Not Found http://{host}/v1\ncontent-type: application/json\ncontent-length: 8\n"
        f'etag: {"x" * 256}\n\n{{"a": 1}}'
    )
    assert server.seen[0].headers["authorization"] == "Bearer secret"
    assert server.seen[0].headers["x"] == "1"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"method": "DELETE"}, "method_not_allowed"),
        ({"method": "TRACE"}, "invalid_arguments"),
        ({"headers": {"Host": "other"}}, "header_not_allowed"),
        ({"headers": {"Transfer-Encoding": "chunked"}}, "header_not_allowed"),
        ({"headers": {"Proxy-Authorization": "x"}}, "header_not_allowed"),
        ({"headers": {"x": "a\r\nHost: b"}}, "invalid_arguments"),
        ({"headers": {"x y": "a"}}, "invalid_arguments"),
        ({"url": "http://other.test/"}, "host_not_allowed"),
    ],
)
async def test_what_may_not_be_sent_is_refused_before_anything_is(
    arguments: dict[str, object], expected: str
) -> None:
    server = Server(lambda _: reply(b""))
    async with serving(server):
        host = f"{PUBLIC}:{server.port}"
        request = tools(request_hosts=[host])["http_request"]
        result = await invoke(request, **{"url": f"http://{host}/", **arguments})
    assert result.error is not None
    assert result.error.code == expected
    assert server.accepted == 0


def test_the_tools_are_there_as_they_were_asked_for() -> None:
    assert list(tools()) == ["fetch_url"]
    both = tools(request_hosts=["api.test"], request_methods=["GET", "POST"])
    assert [both[name].effect for name in both] == [Effect.READ, Effect.IRREVERSIBLE]
    reading = tools(fetch=False, request_hosts=["api.test"])
    assert {name: tool.effect for name, tool in reading.items()} == {"http_request": Effect.READ}


def test_without_the_library_for_pages_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentslot.tool.web.text._LIBRARY", "not_there_at_all")
    with pytest.raises(MissingExtra, match=r"pip install agentslot\[web\]"):
        WebModule()
