"""The file of recorded exchanges: what is kept of each, and what is not."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentslot import AgentSlotError
from agentslot._json import JsonError, JsonValue, dumps, loads

_FORMAT = "agentslot.exchanges/v1"
_REQUEST_HEADERS = frozenset({"content-type", "anthropic-version", "anthropic-beta"})
_USUAL_HEADERS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "host", "user-agent"}
)
"""What every client sends: no secret, but words that may stand in any text."""
_WAITS = ("retry-after", "retry-after-ms", "x-should-retry")
_RESPONSE_HEADERS = frozenset({"content-type", "request-id", "x-request-id", *_WAITS})
_CHANGING = ("prompt_cache_key",)
"""Members of a request that name the Session, and so are others each time."""
_MIN_SECRET = 8
_HIDDEN = b"***"


class ExchangeMismatch(AgentSlotError):  # noqa: N818 - named after what is the matter
    """A request differs from all that were recorded and not replayed yet."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer; header fields with names in lower case."""

    path: str
    request_headers: Mapping[str, str]
    request: bytes
    status: int
    headers: Mapping[str, str]
    body: bytes

    def answers(self, path: str, body: bytes) -> bool:
        """Whether it was recorded of the same request; what names the Session may differ."""
        return self.path == path and _document(self.request) == _document(body)

    def without_secrets(self) -> "Exchange":
        """This exchange as it may be kept.

        Only known header fields remain. What stood in the other ones of the request is replaced
        wherever it occurs.
        """
        sent, got = self.request_headers, self.headers
        open_to_all = _REQUEST_HEADERS | _USUAL_HEADERS
        secrets = _secrets(value for name, value in sent.items() if name not in open_to_all)
        return Exchange(
            self.path,
            _kept(sent, _REQUEST_HEADERS, secrets),
            _scrubbed(self.request, secrets),
            self.status,
            _kept(got, _RESPONSE_HEADERS, secrets),
            _scrubbed(self.body, secrets),
        )


def write_recording(path: Path, exchanges: Sequence[Exchange]) -> None:
    """Write a recording, in place of the one that was there."""
    plain = [
        {
            "path": each.path,
            "request_headers": dict(each.request_headers),
            "request": _text(each.request),
            "status": each.status,
            "headers": dict(each.headers),
            "body": _text(each.body),
        }
        for each in exchanges
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dumps({"format": _FORMAT, "exchanges": plain}) + "\n", encoding="utf-8")


def read_recording(path: Path) -> list[Exchange]:
    """Read a recording.

    Raises:
        ExchangeMismatch: the file is none.
    """
    try:
        document: Any = loads(path.read_bytes())  # its shape is checked by taking it apart
        known = {_FORMAT: document["exchanges"]}
        return [_exchange(each) for each in known[document["format"]]]
    except (JsonError, KeyError, TypeError, ValueError) as error:
        raise ExchangeMismatch(f"{path.name!r} is no recording: delete it to make one") from error


def first_difference(recorded: bytes, asked: bytes) -> str:
    """Where two requests first differ, as a path such as `$.messages[2].content`."""
    return _difference(_document(recorded), _document(asked), "$")


def _difference(one: JsonValue, other: JsonValue, place: str) -> str:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in (*one, *other):
            if name not in one or name not in other:
                return f"{place}.{name}"
            if one[name] != other[name]:
                return _difference(one[name], other[name], f"{place}.{name}")
    if isinstance(one, list) and isinstance(other, list):
        for number, (mine, theirs) in enumerate(zip(one, other, strict=False)):
            if mine != theirs:
                return _difference(mine, theirs, f"{place}[{number}]")
        return f"the length of {place}"
    return place


def _document(body: bytes) -> JsonValue:
    try:
        document = loads(body)
    except JsonError:
        return body.decode(errors="replace")
    if isinstance(document, dict):
        return {name: value for name, value in document.items() if name not in _CHANGING}
    return document


def _secrets(values: Iterable[str]) -> list[bytes]:
    """What might be a key: header values, and what stands behind a word such as `Bearer`."""
    found = {part for value in values for part in (value, value.rpartition(" ")[2])}
    return [s.encode() for s in sorted(found, key=len, reverse=True) if len(s) >= _MIN_SECRET]


def _scrubbed(content: bytes, secrets: Sequence[bytes]) -> bytes:
    for secret in secrets:
        content = content.replace(secret, _HIDDEN)
    return content


def _kept(
    headers: Mapping[str, str], names: frozenset[str], secrets: Sequence[bytes]
) -> dict[str, str]:
    known = {name: value for name, value in headers.items() if name in names}
    return {name: _scrubbed(value.encode(), secrets).decode() for name, value in known.items()}


def _text(content: bytes) -> object:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _exchange(plain: Any) -> Exchange:
    return Exchange(
        plain["path"],
        plain["request_headers"],
        _bytes(plain["request"]),
        plain["status"],
        plain["headers"],
        _bytes(plain["body"]),
    )


def _bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else base64.b64decode(value["base64"])
