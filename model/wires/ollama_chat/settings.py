"""How an Ollama server is found and spoken to."""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

_PORT = 11434
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class OllamaSettings:
    """Settings of the wire.

    Attributes:
        keep_alive: how long the server keeps the model in memory after a request, such as `5m`;
            None leaves that to the server.
        context_window_tokens: the window of models for which none is known. The server must be
            told, or it silently drops the beginning of what does not fit in its own default.
        service_tier: None, as there are no tiers here; other wires have this setting.

    Raises:
        ValueError: a service tier is asked for.
    """

    keep_alive: str | None = None
    context_window_tokens: int = 32_768
    service_tier: str | None = None

    def __post_init__(self) -> None:
        if self.service_tier is not None:
            raise ValueError(
                f"Ollama has no service tiers, so none can be {self.service_tier!r}: leave it out,"
                " or ask over openai-completions, openai-responses, anthropic-messages or"
                " google-generative-ai, which have them"
            )


def ollama_url(host: str) -> str:
    """The base URL that a value of `OLLAMA_HOST` stands for, by the rules of Ollama itself.

    Scheme, host and port may each be missing. With a scheme the port is that scheme's own, else
    11434. The address that a server listens on stands for this machine.

    Raises:
        ValueError: the port is no number.
    """
    host = host.strip().rstrip("/")
    scheme, separator, rest = host.rpartition("://")
    parts = urlsplit(f"//{_bracketed(rest)}")
    port = parts.port or (_PORTS.get(scheme, _PORT) if separator else _PORT)
    name = parts.hostname or "127.0.0.1"
    if name in ("0.0.0.0", "::"):  # noqa: S104 - read, not bound
        name = "127.0.0.1" if name == "0.0.0.0" else "::1"  # noqa: S104 - read, not bound
    shown = f"[{name}]" if ":" in name else name
    user = parts.netloc.rpartition("@")
    return f"{scheme or 'http'}://{user[0]}{user[1]}{shown}:{port}{parts.path}"


def _bracketed(host: str) -> str:
    """A bare IPv6 address in its brackets; anything else as it is."""
    try:
        return f"[{host}]" if ip_address(host).version == 6 else host
    except ValueError:
        return host
