"""Token figures where no provider has told them: bounds before a request, estimates after one.

A tokenizer never makes more tokens of a text than it has bytes, and far fewer of words. The bound
counts ten of the frequent small letters as six tokens, five digits as seven, since a digit may make
a token of the letter beside it, and every other byte as one: above what large and small
vocabularies make of prose, code, keys, digests and base64. What a provider reported for the
beginning of a conversation replaces the bound for that part, so only what is new is overestimated.
"""

import math
import re
from collections.abc import Callable
from weakref import WeakKeyDictionary

from agentslot.model.audiolength import seconds_of
from agentslot.model.contract import ModelRequest, TokenCount
from agentslot.model.transcript import Ledger
from agentslot.model.wire import WireRequest
from agentslot.session import TokenUsage

_FREQUENT = b" abcdefghilmnoprstuy"
_TOKENS_PER_FREQUENT = 0.6
_DIGITS = b"0123456789"
_TOKENS_PER_DIGIT = 1.4
_IMAGE = re.compile(
    rb'(?:data:image/[a-z]+;base64,|"(?:media_type|mimeType)":"image/[a-z]+","data":")'
    rb'[A-Za-z0-9+/=]+|(?:"images":\[|,)"[A-Za-z0-9+/=]{64,}"'
)
_AUDIO = re.compile(
    rb'(?:"input_audio":\{"data":|"mimeType":"audio/[a-z]+","data":)"([A-Za-z0-9+/]+)={0,2}"'
)
_TOKENS_PER_IMAGE = 2_000
_TOKENS_PER_SECOND = 32
"""Of audio: Gemini's figure, the highest that a vendor states."""
_BYTES_PER_TOKEN = 4

Measure = Callable[[bytes, ModelRequest], TokenCount]
"""Counts the tokens of an encoded request, or of its end if the provider reported its beginning.

Images and audio are taken out before, and counted besides. The ModelRequest is the one that was
encoded.
"""


def bound_text(text: bytes) -> int:
    """An upper bound of the tokens of a text, by its bytes."""
    frequent = len(text) - len(text.translate(None, _FREQUENT))
    digits = len(text) - len(text.translate(None, _DIGITS))
    others = len(text) - frequent - digits
    return math.ceil(others + frequent * _TOKENS_PER_FREQUENT + digits * _TOKENS_PER_DIGIT)


def bound_by_bytes(body: bytes, request: ModelRequest) -> TokenCount:
    """The Measure of any model: an upper bound by the bytes that are sent."""
    del request
    return TokenCount(bound_text(body))


def _probable_tokens(body: bytes) -> int:
    text, media = _without_media(body)
    return math.ceil(len(text) / _BYTES_PER_TOKEN) + media


def _without_media(body: bytes) -> tuple[bytes, int]:
    """What is left of a body without its images and audio, and the tokens of these."""
    tokens = 0
    if b"image/" in body or b'"images":' in body:
        body, images = _IMAGE.subn(b"", body)
        tokens += images * _TOKENS_PER_IMAGE
    if b'"input_audio"' in body or b'"audio/' in body:
        tokens += sum(_audio_tokens(found[1]) for found in _AUDIO.finditer(body))
        body = _AUDIO.sub(b"", body)
    return body, tokens


def _audio_tokens(encoded: bytes) -> int:
    """The most tokens that a vendor makes of audio in base64, by how long it lasts."""
    return math.ceil(seconds_of(encoded) * _TOKENS_PER_SECOND)


class UsageLedger:
    """What providers reported for conversations, to count the next request of each closely."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Ledger, tuple[bytes, int]] = WeakKeyDictionary()

    def learn(self, conversation: Ledger, request: WireRequest, usage: TokenUsage | None) -> None:
        """Remember how many tokens that request had."""
        if request.stable and usage is not None and not usage.estimated:
            self._known[conversation] = (request.body[: request.stable], usage.input)

    def count(
        self, request: ModelRequest, body: bytes, measure: Measure = bound_by_bytes
    ) -> TokenCount:
        """The tokens of the next request, which has that body: reported ones and measured ones."""
        reported, new = self._split(request.inputs.ledger, body)
        text, media = _without_media(new)
        count = measure(text, request)
        return TokenCount(reported + count.tokens + media, count.exact and not media)

    def expect(self, conversation: Ledger, body: bytes) -> int:
        """How many tokens the next request with that body probably has; it may have more."""
        tokens, new = self._split(conversation, body)
        return tokens + _probable_tokens(new)

    def _split(self, conversation: Ledger, body: bytes) -> tuple[int, bytes]:
        """The tokens of the beginning that were reported, and what comes behind it."""
        beginning, tokens = self._known.get(conversation, (b"", 0))
        if not beginning or not body.startswith(beginning):
            return 0, body
        return tokens, body[len(beginning) :]

    @staticmethod
    def estimate(body: bytes, text: str) -> TokenUsage:
        """What an attempt probably used when the provider did not say; marked as estimated."""
        sent = _probable_tokens(body)
        received = _probable_tokens(text.encode(errors="replace"))
        return TokenUsage(input=sent, output=received, total=sent + received, estimated=True)
