"""Encryption on the web: whose certificate it must be."""

import ssl
import subprocess
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute
from anyio.streams.tls import TLSListener

from tests.tool.invoking import invoke, output
from tests.tool.webworld import PUBLIC, Names, Server, code, fetch_tool, redirect, reply


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificate")
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=secure.test"
        " -addext subjectAltName=DNS:secure.test -keyout key.pem -out cert.pem"
    )
    try:
        subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    return folder


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://secure.test:{}/", None),
        ("https://other.test:{}/", "request_failed"),
        ("https://secure.test:{}/down", "scheme_not_allowed"),
    ],
)
async def test_the_certificate_is_that_of_the_name_and_no_hop_drops_encryption(
    certificate: Path, url: str, expected: str | None
) -> None:
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    ours = ssl.create_default_context(cafile=str(certificate / "cert.pem"))
    sites = {"/": reply(b"private"), "/down": redirect("http://secure.test/")}
    server = Server(lambda seen: sites[seen.path])
    names = Names(secure_test=PUBLIC, other_test=PUBLIC)
    tool = fetch_tool(names, allow_http=False, ssl_context=ours)
    plain = await anyio.create_tcp_listener(local_host=PUBLIC)
    port = plain.extra(SocketAttribute.local_port)
    listener = TLSListener(plain, theirs, standard_compatible=False)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, server.serve)
        result = await invoke(tool, url=url.format(port))
        tasks.cancel_scope.cancel()
        if expected is not None:
            assert code(result) == expected
            return
        assert output(result).startswith("private")
        assert server.seen[0].headers["host"] == f"secure.test:{port}"
