"""Where the tools of the web may go, and where they never do."""

import gzip
import socket
import tracemalloc
from collections.abc import Sequence
from typing import Any

import anyio
import anyio.to_thread
import pytest

from agentslot.tool.web import blocked_as, parse_url
from tests.shared import shared
from tests.tool.invoking import invoke, output
from tests.tool.webworld import (
    INSIDE,
    PUBLIC,
    Names,
    Seen,
    Server,
    Site,
    code,
    fetch_tool,
    message,
    redirect,
    reply,
    serving,
    tool,
)


@pytest.mark.parametrize(
    ("kind", "addresses"),
    [
        ("this network", ["0.0.0.0", "0.1.2.3", "::ffff:0.0.0.0"]),
        ("unspecified", ["::"]),
        ("loopback", ["127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"]),
        ("private", ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fd00::1"]),
        ("private", ["::ffff:10.0.0.1", "fec0::1"]),
        ("link-local", ["169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "fe80::1%eth0"]),
        ("multicast", ["224.0.0.1", "ff02::1"]),
        ("carrier-grade", ["100.64.0.1", "100.127.255.255"]),
        ("protocol", ["192.0.0.8", "2001:10::1"]),
        ("documentation", ["192.0.2.1", "198.51.100.7", "203.0.113.9", "2001:db8::1", "3fff::1"]),
        ("benchmarking", ["198.18.0.1", "198.19.255.255"]),
        ("relay", ["192.88.99.1"]),
        ("reserved", ["240.0.0.1", "255.255.255.255"]),
        ("6to4", ["2002:7f00:1::"]),
        ("Teredo", ["2001:0:7f00:1::"]),
        ("IPv4-compatible", ["::127.0.0.1", "::10.0.0.1"]),
        ("translated", ["64:ff9b::7f00:1", "64:ff9b:1::1", "::ffff:0:7f00:1"]),
        ("discard", ["100::1"]),
        ("segment", ["5f00::1"]),
        ("not assigned", ["4000::1", "1::1"]),
    ],
)
def test_addresses_that_are_not_public_are_refused_by_kind(
    kind: str, addresses: Sequence[str]
) -> None:
    for address in addresses:
        blocked = blocked_as(address)
        assert blocked is not None, address
        assert kind in blocked, address


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "172.32.0.1", "100.128.0.1", "169.255.0.1", "2606:4700::1111", "::ffff:8.8.8.8"],
)
def test_public_addresses_pass(address: str) -> None:
    assert blocked_as(address) is None


@pytest.fixture
def no_name_is_asked_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spellings of numbers are resolved as ever; the world's name servers are left alone."""
    real = socket.getaddrinfo

    def offline(host: Any, *args: Any, **options: Any) -> Any:
        text = host.decode() if isinstance(host, bytes) else host
        if isinstance(text, str) and text.endswith("nip.io"):
            return real("127.0.0.1", *args, **options)
        return real(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", offline)


@pytest.mark.usefixtures("no_name_is_asked_outside")
async def test_every_spelling_of_an_inner_address_is_refused_without_a_connection() -> None:
    urls = shared("cases/H02/urls.txt").read_text("utf-8").split()
    inner = Server(lambda _: reply(b"secret"))
    tool = fetch_tool(private_networks=[])
    async with serving(inner, host=INSIDE):
        for url in urls:
            result = await invoke(tool, url=url.replace("PORT", str(inner.port)))
            assert code(result) == "address_not_allowed", url
            assert "no public address (" in message(result), url
    assert len(urls) == 20
    assert inner.accepted == 0


async def test_the_switch_opens_the_networks_it_names_and_no_other() -> None:
    server, inner = Server(lambda _: reply(b"hello")), Server(lambda _: reply(b"secret"))
    async with serving(server), serving(inner, host=INSIDE):
        opened = await invoke(fetch_tool(), url=f"http://{PUBLIC}:{server.port}/")
        assert output(opened).startswith("hello\n[200 OK http://127.0.0.2:")
        assert code(await invoke(fetch_tool(), url=f"http://{INSIDE}:{inner.port}/")) == (
            "address_not_allowed"
        )
    assert inner.accepted == 0


async def test_a_name_with_one_inner_address_is_refused_whole() -> None:
    server = Server(lambda _: reply(b"hello"))
    async with serving(server):
        tool = fetch_tool(Names(mixed_test=[[PUBLIC, INSIDE]]))
        result = await invoke(tool, url=f"http://mixed.test:{server.port}/")
    assert code(result) == "address_not_allowed"
    assert "127.0.0.1" in message(result)
    assert server.accepted == 0


async def test_a_name_that_turns_inward_between_two_hops_is_refused() -> None:
    server = Server(lambda _: redirect("/again"))
    async with serving(server):
        names = Names(rebind_test=[[PUBLIC], [INSIDE]])
        result = await invoke(fetch_tool(names), url=f"http://rebind.test:{server.port}/")
    assert code(result) == "address_not_allowed"
    assert server.accepted == 1
    assert names.asked == ["rebind.test", "rebind.test"]


async def test_the_connection_goes_to_the_address_that_was_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The system's resolver says inside from the second question on; nobody is asked twice."""
    server, inner = Server(lambda _: reply(b"hello")), Server(lambda _: reply(b"secret"))
    answers = iter([PUBLIC])
    real = socket.getaddrinfo

    def rebinding(host: Any, port: Any, *args: Any, **options: Any) -> Any:
        return real(next(answers, INSIDE), port, *args, **options)

    async with serving(server):
        port = server.port
        async with serving(inner, host=INSIDE):
            monkeypatch.setattr(socket, "getaddrinfo", rebinding)
            result = await invoke(fetch_tool(), url=f"http://rebind.test:{port}/")
            monkeypatch.undo()
    if result.error is None:
        assert server.seen[0].headers["host"] == f"rebind.test:{port}"
    else:
        assert code(result) in {"address_not_allowed", "request_failed"}
    assert inner.accepted == 0


async def test_a_peer_that_is_not_the_checked_address_gets_no_byte(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Even if connecting itself leads elsewhere, the last look is at the connected socket."""
    inner = Server(lambda _: reply(b"secret"))
    real: Any = anyio.connect_tcp

    async def elsewhere(remote_host: str, remote_port: int, **options: Any) -> Any:
        stream: Any = await real(INSIDE, remote_port, **options)
        return stream

    async with serving(inner, host=INSIDE):
        monkeypatch.setattr(anyio, "connect_tcp", elsewhere)
        result = await invoke(
            fetch_tool(Names(web_test=PUBLIC)), url=f"http://web.test:{inner.port}/"
        )
    assert code(result) == "address_not_allowed"
    assert inner.seen == []


@pytest.mark.parametrize("location", ["http://169.254.169.254/", "http://127.0.0.1:{port}/"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_leads_inward(location: str, status: int) -> None:
    inner = Server(lambda _: reply(b"secret"))
    async with serving(inner, host=INSIDE):
        target = location.format(port=inner.port)
        server = Server(lambda _: redirect(target, status))
        async with serving(server):
            result = await invoke(fetch_tool(), url=f"http://{PUBLIC}:{server.port}/")
    assert code(result) == "address_not_allowed"
    assert inner.accepted == 0


async def test_a_chain_of_relative_redirects_is_followed_to_its_end() -> None:
    sites = {"/a/b": redirect("../c"), "/c": redirect("?d=1"), "/c?d=1": reply(b"there")}
    server = Server(lambda seen: sites[seen.path])
    async with serving(server):
        result = await invoke(fetch_tool(), url=f"http://{PUBLIC}:{server.port}/a/b")
    assert output(result).startswith("there\n[200 OK http://127.0.0.2")
    assert [seen.path for seen in server.seen] == ["/a/b", "/c", "/c?d=1"]


BAD_SITES: list[tuple[Site, str]] = [
    (lambda _: redirect("/"), "redirect_loop"),
    (lambda seen: redirect(seen.path + "x"), "too_many_redirects"),
    (lambda _: redirect("file:///etc/passwd"), "scheme_not_allowed"),
    (lambda _: redirect("gopher://x/"), "scheme_not_allowed"),
]


@pytest.mark.parametrize(("site", "expected"), BAD_SITES)
async def test_a_bad_redirect_is_named(site: Site, expected: str) -> None:
    server = Server(site)
    async with serving(server):
        result = await invoke(fetch_tool(), url=f"http://{PUBLIC}:{server.port}/")
    assert code(result) == expected
    assert server.accepted <= 6


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.com/", "scheme_not_allowed"),
        ("ftp://example.com/", "scheme_not_allowed"),
        ("example.com", "scheme_not_allowed"),
        ("https:///path", "invalid_arguments"),
        ("https://u:p@example.com/", "invalid_arguments"),
        ("https://example.com:99999/", "invalid_arguments"),
        ("https://exa mple.com/", "invalid_arguments"),
        ("https://example.com/\r\nHost: x", "invalid_arguments"),
        ("https://[::1/", "invalid_arguments"),
    ],
)
async def test_a_url_that_cannot_be_used_says_what_is_wrong(url: str, expected: str) -> None:
    assert code(await invoke(fetch_tool(allow_http=False), url=url)) == expected


def test_a_url_is_sent_as_it_is_meant() -> None:
    target = parse_url("https://Bücher.example.:8443/ä b".replace(" ", "%20") + "?q=ü&x=1#part")
    assert target.authority == "xn--bcher-kva.example:8443"
    assert target.path == "/%C3%A4%20b?q=%C3%BC&x=1"
    assert parse_url("http://[2606:4700::1]/").authority == "[2606:4700::1]"


SECRETS = {"authorization": "Bearer s", "x-api-key": "s", "cookie": "s=1"}


async def test_headers_stay_at_their_origin_and_do_not_come_back_after_a_return() -> None:
    ports: dict[str, int] = {}

    def first(seen: Seen) -> bytes:
        if seen.path == "/":
            return redirect("/same")
        if seen.path == "/same":
            return redirect(f"http://a.test:{ports['b']}/one")
        return redirect(f"http://a.test:{ports['b']}/two")

    def second(seen: Seen) -> bytes:
        return redirect(f"http://a.test:{ports['a']}/back") if seen.path == "/one" else reply(b"x")

    a, b = Server(first), Server(second)
    async with serving(a, b):
        ports.update(a=a.port, b=b.port)
        hosts = {f"a.test:{a.port}": {"x-fixed": "secret"}, f"a.test:{b.port}": {}}
        tool_ = tool("http_request", Names(a_test=PUBLIC), request_hosts=hosts)
        headers = {**SECRETS, "accept-language": "de"}
        result = await invoke(tool_, url=f"http://a.test:{a.port}/", headers=headers)
    assert output(result).startswith("HTTP 200 OK ")
    sent = {*SECRETS, "x-fixed"}
    assert [sent & seen.headers.keys() for seen in a.seen] == [sent, sent, set()]
    assert [sent & seen.headers.keys() for seen in b.seen] == [set(), set()]
    assert b.seen[1].headers["accept-language"] == "de"


async def test_a_write_is_not_repeated_at_another_origin() -> None:
    other = Server(lambda _: reply(b"x"))
    async with serving(other):
        there = f"http://127.0.0.2:{other.port}/"
        server = Server(lambda _: redirect(there, 307))
        async with serving(server):
            here = f"127.0.0.2:{server.port}"
            tool_ = tool(
                "http_request",
                request_hosts=[here, f"127.0.0.2:{other.port}"],
                request_methods=["GET", "POST"],
            )
            result = await invoke(tool_, url=f"http://{here}/", method="POST", body="{}")
    assert code(result) == "redirect_refused"
    assert other.accepted == 0


@pytest.mark.parametrize(("status", "method"), [(301, "GET"), (303, "GET"), (307, "POST")])
async def test_a_redirect_at_home_keeps_or_changes_the_method(status: int, method: str) -> None:
    server = Server(lambda seen: redirect("/next", status) if seen.path == "/" else reply(b"done"))
    async with serving(server):
        here = f"127.0.0.2:{server.port}"
        tool_ = tool("http_request", request_hosts=[here], request_methods=["GET", "POST"])
        await invoke(tool_, url=f"http://{here}/", method="POST", body="{}")
    assert [(seen.method, seen.body) for seen in server.seen] == [
        ("POST", b"{}"),
        (method, b"{}" if method == "POST" else b""),
    ]


@pytest.mark.parametrize("name", ["fetch_url", "http_request"])
async def test_each_tool_has_its_own_list_of_hosts_which_holds_for_redirects(name: str) -> None:
    server = Server(lambda _: redirect(f"http://b.test:{server.port}/"))
    async with serving(server):
        host = [f"a.test:{server.port}"]
        lists = {"fetch_hosts": host, "request_hosts": host}
        tool_ = tool(name, Names(a_test=PUBLIC, b_test=PUBLIC), **lists)
        result = await invoke(tool_, url=f"http://a.test:{server.port}/")
        other = await invoke(tool_, url=f"http://b.test:{server.port}/")
        port = await invoke(tool_, url="http://a.test/")
    assert code(result) == code(other) == code(port) == "host_not_allowed"
    assert f"allowed are: a.test:{server.port}" in message(other)
    assert server.accepted == 1


async def test_an_endless_body_is_read_to_its_cap_and_the_connection_is_closed() -> None:
    head = b"HTTP/1.1 200 X\r\ncontent-type: text/plain\r\n\r\n"
    server = Server(lambda _: head, flood=b"x" * 10_000)
    async with serving(server):
        tool_ = fetch_tool(max_bytes=100_000)
        text = output(await invoke(tool_, url=f"http://{PUBLIC}:{server.port}/"))
        with anyio.fail_after(20):
            await server.hung_up.wait()
    assert "of 100000; continue with start=" in text


async def test_a_small_body_that_unpacks_hugely_is_cut_at_the_cap() -> None:
    bomb = await anyio.to_thread.run_sync(gzip.compress, b"a" * 50_000_000)
    server = Server(lambda _: reply(bomb, content_encoding="gzip"))
    async with serving(server):
        tool_ = fetch_tool(max_bytes=1000)
        tracemalloc.start()
        text = output(await invoke(tool_, url=f"http://{PUBLIC}:{server.port}/"))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 10_000_000
    assert text.startswith("a" * 1000 + "\n[")
    assert text.endswith("the rest was not read: it is longer than 1000 bytes]")


async def test_a_body_shorter_than_announced_is_a_failure() -> None:
    server = Server(lambda _: reply(b"short", content_length="500"))
    async with serving(server):
        result = await invoke(fetch_tool(), url=f"http://{PUBLIC}:{server.port}/")
    assert code(result) == "request_failed"


async def test_a_slow_body_does_not_outlast_the_limit_on_the_whole() -> None:
    head = b"HTTP/1.1 200 X\r\ncontent-type: text/plain\r\n\r\n"
    server = Server(lambda _: head, flood=b"x", pause=0.02)
    async with serving(server):
        url = f"http://{PUBLIC}:{server.port}/"
        with anyio.fail_after(20):
            result = await invoke(fetch_tool(), url=url, timeout_seconds=0.3)
        assert code(result) == "timeout"
        with anyio.fail_after(20):
            await server.hung_up.wait()


async def test_an_unknown_compression_is_refused() -> None:
    server = Server(lambda _: reply(b"??", content_encoding="br"))
    async with serving(server):
        result = await invoke(fetch_tool(), url=f"http://{PUBLIC}:{server.port}/")
    assert code(result) == "request_failed"
    assert server.seen[0].headers["accept-encoding"] == "gzip"


async def test_nobody_listening_is_a_failure_that_names_the_host() -> None:
    result = await invoke(fetch_tool(), url=f"http://{PUBLIC}:9/")
    assert code(result) == "request_failed"
    assert message(result).startswith("http://127.0.0.2:9 cannot be reached")
