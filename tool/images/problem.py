"""Images that providers refuse, told by their structure alone."""

_PNG = b"\x89PNG\r\n\x1a\n"
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_STANDALONE = frozenset({0x01, *range(0xD0, 0xD9)})


def image_problem(content: bytes) -> str | None:
    """Why no model can be shown this PNG or JPEG; None if nothing speaks against it."""
    if content.startswith(_PNG):
        return _png_problem(content)
    if content.startswith(b"\xff\xd8") and _jpeg_components(content) == 4:
        return "a JPEG in CMYK; convert it to RGB"
    return None


def _png_problem(content: bytes) -> str | None:
    position = len(_PNG)
    if content[position + 4 : position + 8] != b"IHDR":
        return "a PNG whose first chunk is not its header; it is damaged"
    while position + 8 <= len(content):
        size = int.from_bytes(content[position : position + 4], "big")
        kind = content[position + 4 : position + 8]
        if kind == b"acTL":
            return "an animated PNG; save one frame of it"
        if kind == b"IDAT":
            return None
        position += size + 12
    return "a PNG without pixels; it is damaged"


def _jpeg_components(content: bytes) -> int | None:
    """Number of colour components; None if no frame header is found."""
    position = 2
    while position + 4 <= len(content) and content[position] == 0xFF:
        marker = content[position + 1]
        if marker == 0xFF or marker in _STANDALONE:  # padding, or a marker without a length
            position += 1 if marker == 0xFF else 2
            continue
        if marker in _FRAMES:
            return content[position + 9] if position + 9 < len(content) else None
        position += 2 + int.from_bytes(content[position + 2 : position + 4], "big")
    return None
