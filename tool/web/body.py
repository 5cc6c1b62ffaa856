"""The body of an answer, read no further than its cap, before and after decompression."""

import zlib
from dataclasses import dataclass

from agentslot._exchange import RawAnswer
from agentslot.tool.errors import ToolFailedError

_GZIP_OR_ZLIB = 47  # window bits: 15, and 32 to tell the two apart


@dataclass(frozen=True, slots=True)
class Body:
    """What was read.

    Attributes:
        truncated: whether there would have been more.
    """

    content: bytes
    truncated: bool


async def read_body(answer: RawAnswer, max_bytes: int) -> Body:
    """Read at most `max_bytes`, on the wire and decompressed; stop there.

    Raises:
        HttpError: the connection broke.
        ToolFailedError: `request_failed` if it is compressed in a way that was not asked for.
    """
    encoding = answer.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip", "x-gzip", "deflate", ""}:
        raise ToolFailedError("request_failed", f"the answer is compressed as {encoding[:20]!r}")
    inflate = _Inflate() if encoding not in {"identity", ""} else None
    content = bytearray()
    received = 0
    while piece := await answer.read():
        received += len(piece)
        # One byte more than fits tells a long body from one that ends just there.
        room = max_bytes + 1 - len(content)
        content += inflate.feed(piece, room) if inflate else piece[:room]
        if len(content) > max_bytes or received > max_bytes:
            break
    truncated = len(content) > max_bytes or received > max_bytes
    return Body(bytes(content[:max_bytes]), truncated)


class _Inflate:
    """Decompression that gives no more than it is asked for."""

    def __init__(self) -> None:
        self._state = zlib.decompressobj(_GZIP_OR_ZLIB)

    def feed(self, piece: bytes, room: int) -> bytes:
        """Decompress a piece; at most `room` bytes come out, the rest is lost."""
        try:
            return self._state.decompress(piece, room)
        except zlib.error as error:
            raise ToolFailedError(
                "request_failed", "the answer could not be decompressed"
            ) from error
