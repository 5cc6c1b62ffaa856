"""Audio counts for how long it lasts, and not for the letters in which it is sent."""

import struct

import pytest

from agentslot.model.estimate import UsageLedger
from agentslot.model.wires.google_generative_ai import GoogleGenerativeAIWire
from agentslot.model.wires.openai_completions import OpenAICompletionsWire
from agentslot.session import AttachmentPart, Role
from tests.model.support import in_base64, message, request

WIRES = [OpenAICompletionsWire("https://api.openai.com/v1"), GoogleGenerativeAIWire()]


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


@pytest.mark.parametrize("wire", WIRES, ids=["openai", "google"])
def test_other_audio_lasts_no_longer_than_at_a_low_rate(wire: OpenAICompletionsWire) -> None:
    minute = b"ID3" + bytes(60 * 16_000 - 3)
    assert 32 * 60 <= tokens_of(wire, "audio/mpeg", minute) < 4 * 32 * 60 + 400


def test_a_call_that_only_looks_like_audio_is_harmless() -> None:
    body = (
        b'{"args":{"mimeType":"audio/wav","data":"====="}} {"mimeType":"audio/wav","data":"UklG"}'
    )
    assert UsageLedger().count(request([]), body).tokens > 0
