"""Telling audio by its first bytes, never by its name."""

_SIGNATURES = (
    (b"WAVE", 8, "audio/wav"),
    (b"ID3", 0, "audio/mpeg"),
    (b"fLaC", 0, "audio/flac"),
    (b"OggS", 0, "audio/ogg"),
    (b"AIFF", 8, "audio/aiff"),
    (b"AIFC", 8, "audio/aiff"),
)
_FRAMES = {0xF2: "audio/mpeg", 0xF0: "audio/aac"}
"""The second byte of a frame, without its flags, behind a first one of ones."""
_FRAME_MASK = 0xF6
_OTHER_NAMES = {"audio/x-wav", "audio/wave", "audio/vnd.wave", "audio/mp3", "audio/x-aiff"}
AUDIO_TYPES = frozenset({*(media for _, _, media in _SIGNATURES), *_FRAMES.values(), *_OTHER_NAMES})
"""What is told by its first bytes, under all names that are in use."""


def audio_type(head: bytes) -> str | None:
    """Media type of the audio that begins with `head`; None if it is none that models take."""
    for magic, at, media in _SIGNATURES:
        if head[at : at + len(magic)] == magic:
            return media
    if len(head) < 2 or head[0] != 0xFF:
        return None
    return _FRAMES.get(head[1] & _FRAME_MASK)
