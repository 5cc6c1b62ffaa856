"""Where a provider is reached, and with which credential."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from agentslot.session.credential import ENVIRONMENT, CredentialRef

_FIELD_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def merge_headers(*layers: Mapping[str, str | None]) -> dict[str, str]:
    """Header fields of several layers, the last one the strongest; None deletes a field.

    Names are compared in lower case, and given back so. The layers themselves are not changed.
    """
    merged: dict[str, str | None] = {}
    for layer in layers:
        merged.update({name.lower(): value for name, value in layer.items()})
    return {name: value for name, value in merged.items() if value is not None}


def key_reference(variable: str | None, credential: CredentialRef | None) -> CredentialRef | None:
    """The reference of a provider's key: the one given, else an environment variable, if any."""
    if credential is not None or variable is None:
        return credential
    return CredentialRef(f"{ENVIRONMENT}{variable}")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One server.

    Attributes:
        base_url: absolute http or https URL, such as `https://api.openai.com/v1`.
        credential: reference of the key, which is looked up for each attempt; None for a server
            that wants none.
        headers: further header fields of every request. They win over the wire's own; None
            removes one.

    Raises:
        ValueError: base_url is no plain absolute URL, or a header field holds what is no printable
            ASCII.
    """

    base_url: str
    credential: CredentialRef | None = None
    headers: Mapping[str, str | None] = field(
        default_factory=dict[str, str | None],
        repr=False,  # one of them may be a key
    )

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        parts.port  # noqa: B018 - a ValueError if it is no port
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"base_url must be an absolute http(s) URL, not {self.base_url!r}")
        if parts.query or parts.fragment or "@" in parts.netloc:
            raise ValueError(
                "base_url must have no user, query or fragment: it is no place for keys"
            )

        for name, value in self.headers.items():
            plain = value is None or (value.isascii() and value.isprintable())
            if not plain or not _FIELD_NAME.fullmatch(name):
                raise ValueError(f"header field {name!r} holds characters that no header may have")

    @property
    def server(self) -> str:
        """Host and port, for people."""
        return urlsplit(self.base_url).netloc

    def url(self, path: str) -> str:
        """The URL of a path of the provider's protocol."""
        return self.base_url.rstrip("/") + path

    def header_fields(self, own: Mapping[str, str]) -> dict[str, str]:
        """The wire's own header fields with `headers` over them, names in lower case."""
        return merge_headers(own, self.headers)
