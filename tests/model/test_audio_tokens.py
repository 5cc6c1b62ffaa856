"""Audio counts for how long it lasts, and not for the letters in which it is sent."""

import struct
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model.audiolength import seconds_of
from agentslot.model.estimate import UsageLedger
from agentslot.model.wires.google_generative_ai import GoogleGenerativeAIWire
from agentslot.model.wires.openai_completions import OpenAICompletionsWire
from agentslot.session import AttachmentPart, Role
from tests.model.support import in_base64, message, request

OPENAI = OpenAICompletionsWire("https://api.openai.com/v1")
GEMINI = GoogleGenerativeAIWire()
WIRES = [OPENAI, GEMINI]


def wave(seconds: int, rate: int) -> bytes:
    """Silence, with so many bytes a second."""
    form = struct.pack("<IHHIIHH", 16, 1, 1, rate // 2, rate, 2, 16)
    sound = bytes(seconds * rate)
    chunks = b"WAVEfmt " + form + b"data" + struct.pack("<I", len(sound)) + sound
    return b"RIFF" + struct.pack("<I", len(chunks)) + chunks


def tokens_of(
    wire: OpenAICompletionsWire | GoogleGenerativeAIWire, media: str, *sent: bytes
) -> int:
    """The tokens that audio adds to a request."""
    contents = {f"a{number}": content for number, content in enumerate(sent)}
    asked = request([message(1, Role.USER, "hi", *(AttachmentPart(a, media) for a in contents))])
    whole = wire.encode(asked, in_base64(contents)).body
    return UsageLedger().count(asked, whole).tokens


@pytest.mark.parametrize("wire", WIRES, ids=["openai", "google"])
def test_a_wave_says_how_long_it_lasts(wire: OpenAICompletionsWire) -> None:
    one, two = wave(20, 88_200), wave(40, 88_200)
    assert 32 * 20 <= tokens_of(wire, "audio/wav", one) < 32 * 20 + 400
    assert 32 * 60 <= tokens_of(wire, "audio/wav", one, two) < 32 * 60 + 600


def tagged(kbits: int, size: int, frame: bytes = b"") -> bytes:
    """An MP3 of that rate behind a tag with a picture, or one with that first frame."""
    index = (32, 40, 48, 56, 64, 80, 96, 112, 128).index(kbits) + 1
    start = frame or bytes([0xFF, 0xFB, index << 4, 0xC0])
    return b"ID3\x04\0\0" + bytes([0, 0, 7, 104]) + bytes(1_000) + start + bytes(size)


VARYING = bytes([0xFF, 0xFB, 0x90, 0xC0]) + bytes(32) + b"Xing\0\0\0\x01" + struct.pack(">I", 2_297)
TOTAL = (44_100 << 44 | 60 * 44_100).to_bytes(8)
PAGE = b"OggS\0\4" + struct.pack("<q", 60 * 48_000) + bytes(20)
OPUS = b"OggS\0\2" + bytes(22) + b"OpusHead" + bytes(40_000) + PAGE
VORBIS = (
    b"OggS\0\2"
    + bytes(22)
    + b"\x01vorbis"
    + bytes(5)
    + struct.pack("<I", 48_000)
    + bytes(300)
    + PAGE
)
MINUTES = {
    "mp3": ("audio/mpeg", tagged(64, 60 * 8_000)),
    "mp3 without a tag": ("audio/mpeg", bytes([0xFF, 0xF3, 0x40, 0xC0]) + bytes(60 * 4_000)),
    "mp3 whose rate varies": ("audio/mpeg", tagged(128, 90_000, VARYING)),
}
GOOGLES = {
    **MINUTES,
    "flac": ("audio/flac", b"fLaC" + bytes(14) + TOTAL + bytes(50_000)),
    "opus": ("audio/ogg", OPUS),
    "vorbis": ("audio/ogg", VORBIS),
}


@pytest.mark.parametrize(("media", "minute"), MINUTES.values(), ids=MINUTES)
def test_compressed_audio_says_how_long_it_lasts(media: str, minute: bytes) -> None:
    assert 32 * 60 <= tokens_of(OPENAI, media, minute) < 32 * 61 + 400


@pytest.mark.parametrize(("media", "minute"), GOOGLES.values(), ids=GOOGLES)
def test_all_that_gemini_hears_says_how_long_it_lasts(media: str, minute: bytes) -> None:
    assert 32 * 60 <= tokens_of(GEMINI, media, minute) < 32 * 61 + 400


@given(st.sampled_from([b"RIFF", b"ID3", b"OggS", b"fLaC", b"\xff\xfb"]), st.binary(max_size=60))
def test_audio_that_is_broken_counts_all_the_same(head: bytes, rest: bytes) -> None:
    assert seconds_of(b64encode(head + rest).rstrip(b"=")) >= 0


@pytest.mark.parametrize("wire", WIRES, ids=["openai", "google"])
def test_other_audio_lasts_no_longer_than_at_a_low_rate(wire: OpenAICompletionsWire) -> None:
    minute = b"???" + bytes(60 * 16_000 - 3)
    assert 32 * 60 <= tokens_of(wire, "audio/mpeg", minute) < 4 * 32 * 60 + 400


def test_a_call_that_only_looks_like_audio_is_harmless() -> None:
    body = (
        b'{"args":{"mimeType":"audio/wav","data":"====="}} {"mimeType":"audio/wav","data":"UklG"}'
    )
    assert UsageLedger().count(request([]), body).tokens > 0
