"""How long audio lasts, told by its beginning or its end, without decoding what it holds."""

from base64 import b64decode

_BYTES_PER_SECOND = 4_000
"""Where the audio does not tell: 32 kbit/s, which speech is seldom below."""
_HEAD, _TAIL = 256, 96 * 1024
_MP3_KBITS = {
    True: (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    False: (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""Of the first version of MPEG, and of the later ones for low rates."""
_MP3_RATES = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}
_OPUS_RATE = 48_000


def seconds_of(encoded: bytes) -> float:
    """Seconds of audio in base64 without padding; where it does not tell, at a low rate."""
    size = len(encoded) * 3 // 4
    head = _decoded(encoded, 0, _HEAD)
    told = 0.0
    if head.startswith(b"RIFF") and head[8:16] == b"WAVEfmt ":
        told = _ratio(size, int.from_bytes(head[28:32], "little"))
    elif head.startswith(b"fLaC"):
        told = _ratio(int.from_bytes(head[21:26]) & 0xF_FFFF_FFFF, int.from_bytes(head[18:21]) >> 4)
    elif head.startswith(b"OggS"):
        told = _ogg(head, _decoded(encoded, size - _TAIL, _TAIL))
    elif head.startswith(b"ID3"):
        start = 10 + sum(byte << 7 * place for place, byte in enumerate(head[9:5:-1]))
        told = _mp3(_decoded(encoded, start, _HEAD), size - start)
    elif head.startswith(b"\xff"):
        told = _mp3(head, size)
    return told if told > 0 else size / _BYTES_PER_SECOND


def _decoded(encoded: bytes, start: int, size: int) -> bytes:
    """So many bytes from there, or somewhat fewer at the end."""
    start = max(start, 0)
    groups = encoded[start // 3 * 4 : (start + size + 2) // 3 * 4]
    return b64decode(groups[: len(groups) // 4 * 4])[start % 3 :]


def _ratio(amount: int, per_second: int) -> float:
    return amount / per_second if per_second else 0.0


def _ogg(head: bytes, tail: bytes) -> float:
    """The last page says how many samples there are up to its end."""
    page = tail[tail.rfind(b"OggS") :]
    if not page.startswith(b"OggS") or len(page) < 14:
        return 0.0
    vorbis = head.find(b"\x01vorbis") + 12
    rate = int.from_bytes(head[vorbis : vorbis + 4], "little") if vorbis > 11 else _OPUS_RATE
    return _ratio(int.from_bytes(page[6:14], "little", signed=True), rate)


def _mp3(frame: bytes, size: int) -> float:
    """By the rate of the first frame, or by the number of frames if that says that rates vary."""
    if len(frame) < 4 or frame[0] != 0xFF or frame[1] & 0xE6 != 0xE2:
        return 0.0
    version, rate, kbits = frame[1] >> 3 & 3, frame[2] >> 2 & 3, frame[2] >> 4
    if version not in _MP3_RATES or rate == 3 or not 0 < kbits < 15:
        return 0.0
    is_first = version == 3
    varying = frame.find(b"Xing")
    if varying > 0 and len(frame) >= varying + 12 and frame[varying + 7] & 1:
        frames = int.from_bytes(frame[varying + 8 : varying + 12])
        return frames * (1152 if is_first else 576) / _MP3_RATES[version][rate]
    return size / (_MP3_KBITS[is_first][kbits - 1] * 125)
