"""The module with the tools of the web."""

import ssl
from collections.abc import Collection, Mapping, Sequence

from agentslot import Module
from agentslot._text import several
from agentslot.tool.contract import TOOLS, Tool
from agentslot.tool.web.fetch import Fetcher
from agentslot.tool.web.guard import Guard, Resolve
from agentslot.tool.web.hosts import HostList
from agentslot.tool.web.text import require_html_library
from agentslot.tool.web.tools import PageReader, Requester


class WebModule(Module):
    """`fetch_url` for public pages, and `http_request` for the hosts that you name.

    Both refuse every address that is not public, whatever name or redirect leads there, and look at
    the address once more when they are connected. Proxies of the environment are not used.
    """

    def __init__(
        self,
        *,
        fetch: bool = True,
        fetch_hosts: Collection[str] | None = None,
        request_hosts: Mapping[str, Mapping[str, str]] | Sequence[str] = (),
        request_methods: Collection[str] = ("GET", "HEAD"),
        allow_http: bool = False,
        private_networks: Sequence[str] = (),
        timeout_seconds: float = 30.0,
        max_bytes: int = 512 * 1024,
        resolve: Resolve | None = None,
        ssl_context: ssl.SSLContext | None = None,
        module_id: str = "tool.web",
    ) -> None:
        """Declare the tools.

        Args:
            fetch: contribute `fetch_url`; it needs the extra `web`.
            fetch_hosts: the hosts that `fetch_url` may ask, as `host` or `host:port`; by default
                every public one.
            request_hosts: the hosts that `http_request` may ask. As a mapping, with the header
                fields that go along to each, such as its credentials: the model does not see them,
                and a redirect to another origin does not carry them. Without hosts there is no
                such tool.
            request_methods: the methods that it may use.
            allow_http: also ask without encryption.
            private_networks: networks that may be reached although they are not public, such as
                `10.1.2.0/24`.
            timeout_seconds: limit on a whole call.
            max_bytes: limit on a body, as received and decompressed.
            resolve: gives all addresses of a name; the system's resolver by default.
            ssl_context: verifies servers; the public certificates by default.
            module_id: id of this module.

        Raises:
            MissingExtra: `fetch_url` is wanted and the extra `web` is not installed.
            ValueError: one of `private_networks` is no network.
            TypeError: a single text where several are asked for.
        """
        guard = Guard(
            allow_http=allow_http,
            networks=several("private_networks", private_networks),
            resolve=resolve,
            ssl_context=ssl_context,
        )
        tools: list[Tool] = []
        if fetch:
            require_html_library()
            hosts = None if fetch_hosts is None else HostList(several("fetch_hosts", fetch_hosts))
            fetcher = Fetcher(guard, hosts, timeout_seconds=timeout_seconds, max_bytes=max_bytes)
            tools.append(PageReader(fetcher).tool())
        if request_hosts:
            fields = _with_fields(request_hosts)
            fetcher = Fetcher(
                guard, HostList(fields), timeout_seconds=timeout_seconds, max_bytes=max_bytes
            )
            methods = several("request_methods", request_methods)
            tools.append(Requester(fetcher, fields, methods).tool())
        super().__init__(module_id, *(TOOLS.add(tool.definition.name, tool) for tool in tools))


def _with_fields(
    hosts: Mapping[str, Mapping[str, str]] | Sequence[str],
) -> Mapping[str, Mapping[str, str]]:
    if isinstance(hosts, Mapping):
        return hosts
    return {host: {} for host in several("request_hosts", hosts)}
