"""Telling images by their first bytes, never by their name."""

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF87a", 0, "image/gif"),
    (b"GIF89a", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
)
IMAGE_TYPES = frozenset(media for _, _, media in _SIGNATURES)


def image_type(head: bytes) -> str | None:
    """Media type of the image that begins with `head`; None if it is none that models take."""
    return next(
        (media for magic, at, media in _SIGNATURES if head[at : at + len(magic)] == magic), None
    )
