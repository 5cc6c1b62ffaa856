"""The hosts that a tool may ask."""

from collections.abc import Iterable

from agentslot._exchange import Target
from agentslot.tool.errors import ToolFailedError

_SHOWN = 20


class HostList:
    """Exact hosts, with or without a port: `api.example.com`, `localhost:8080`, `[::1]:80`.

    One without a port allows the usual port of the scheme alone.
    """

    def __init__(self, hosts: Iterable[str]) -> None:
        self._hosts = frozenset(host.lower().rstrip(".") for host in hosts)

    def __contains__(self, target: Target) -> bool:
        return target.authority in self._hosts

    def require(self, target: Target) -> None:
        """Refuse other hosts.

        Raises:
            ToolFailedError: `host_not_allowed`.
        """
        if target not in self:
            known = ", ".join(sorted(self._hosts)[:_SHOWN]) or "none"
            raise ToolFailedError(
                "host_not_allowed", f"{target.authority} may not be asked; allowed are: {known}"
            )
