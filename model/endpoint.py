"""Where a provider is reached, and with which credential."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from agentslot.model.errors import ModelError, ModelErrorCode


class Credential(Protocol):
    """A reference to a secret; the secret itself is looked up for each attempt and kept nowhere."""

    def resolve(self) -> str:
        """The secret.

        Raises:
            ModelError: `credential_unavailable`, naming the reference and never the secret.
        """
        ...


@dataclass(frozen=True, slots=True)
class EnvironmentCredential:
    """A secret in an environment variable; a new value is used from the next attempt on."""

    variable: str

    def resolve(self) -> str:
        """The value of the variable.

        Raises:
            ModelError: `credential_unavailable`: the variable is unset, blank, or unfit for a
                header.
        """
        secret = os.environ.get(self.variable, "").strip()
        if not secret:
            raise self._unavailable("is not set")
        if not (secret.isascii() and secret.isprintable()):
            raise self._unavailable("holds characters that no key has")
        return secret

    def _unavailable(self, problem: str) -> ModelError:
        return ModelError(
            ModelErrorCode.CREDENTIAL_UNAVAILABLE,
            f"environment variable {self.variable!r} {problem}: put the provider's key into it",
        )


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One server.

    Attributes:
        base_url: absolute http or https URL, such as `https://api.openai.com/v1`.
        credential: None for a server that wants none.
        headers: further header fields of every request. They win over the wire's own; None
            removes one.

    Raises:
        ValueError: base_url is no plain absolute URL.
    """

    base_url: str
    credential: Credential | None = None
    headers: Mapping[str, str | None] = field(default_factory=dict[str, str | None])

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        parts.port  # noqa: B018 - a ValueError if it is no port
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"base_url must be an absolute http(s) URL, not {self.base_url!r}")
        if parts.query or parts.fragment or "@" in parts.netloc:
            raise ValueError(
                "base_url must have no user, query or fragment: it is no place for keys"
            )

    def url(self, path: str) -> str:
        """The URL of a path of the provider's protocol."""
        return self.base_url.rstrip("/") + path

    def header_fields(self, own: Mapping[str, str]) -> dict[str, str]:
        """The wire's own header fields with `headers` over them, names in lower case."""
        merged: dict[str, str | None] = {name.lower(): value for name, value in own.items()}
        merged.update({name.lower(): value for name, value in self.headers.items()})
        return {name: value for name, value in merged.items() if value is not None}
