"""Making an image small enough for every provider; one that is already stays byte for byte."""

import io
import logging
from importlib import import_module
from importlib.util import find_spec
from typing import Any

MAX_SIDE = 2000
"""Most pixels in width and in height."""
MAX_BASE64_BYTES = 4608 * 1024
"""Most bytes of the image as base64, which is how it is sent."""
MAX_PIXELS = 50_000_000
"""An image that claims more is not decoded: a hundred bytes can claim gigabytes."""

_QUALITIES = (85, 70, 55, 40)
_HALVINGS = 4
_LOSSLESS = frozenset({"image/png", "image/gif"})
_logger = logging.getLogger("agentslot.tool")


def normalize_image(content: bytes, media_type: str) -> tuple[bytes, str]:
    """The image within the limits, and its media type. Run it in a worker thread.

    What conforms is returned as it is. PNG and GIF stay lossless if that fits, else they become
    JPEG on white; of an animation the first frame is kept. If the image cannot be read, or the
    extra `images` is not installed, the original comes back: a provider may still take it.

    Args:
        content: the image.
        media_type: its type, which decides whether it may stay lossless.
    """
    if find_spec("PIL") is None:
        return content, media_type
    pillow: Any = import_module("PIL.Image")  # installed on demand
    try:
        with pillow.open(io.BytesIO(content)) as image:  # reads the header alone
            width, height = image.size
            if _fits(content) and max(width, height) <= MAX_SIDE:
                return content, media_type
            if width * height > MAX_PIXELS:
                _logger.warning("an image of %d by %d pixels is passed on as it is", width, height)
                return content, media_type
            return _shrunk(pillow, image, media_type)
    except (OSError, ValueError, SyntaxError, pillow.DecompressionBombError):
        _logger.warning("an image (%s) cannot be read and is passed on as it is", media_type)
        return content, media_type


def _fits(content: bytes) -> bool:
    return -(-len(content) // 3) * 4 <= MAX_BASE64_BYTES


def _shrunk(pillow: Any, image: Any, media_type: str) -> tuple[bytes, str]:
    upright = import_module("PIL.ImageOps").exif_transpose(image)
    scale = min(1.0, MAX_SIDE / max(upright.size))
    for halving in range(_HALVINGS + 1):
        factor = scale / 2**halving
        size = [max(1, int(side * factor)) for side in upright.size]
        # A box averages all pixels that fall together; nothing is merely left out.
        smaller = _plain(upright)
        if tuple(size) != upright.size:
            smaller = smaller.resize(size, pillow.Resampling.BOX)
        if halving == 0 and media_type in _LOSSLESS:
            saved = _saved(smaller, "PNG", optimize=True)
            if _fits(saved):
                return saved, "image/png"
        flat = _on_white(pillow, smaller)
        for quality in _QUALITIES:
            saved = _saved(flat, "JPEG", quality=quality)
            if _fits(saved):
                return saved, "image/jpeg"
    raise ValueError("it does not get small enough")


def _plain(image: Any) -> Any:
    """In RGB, with its transparency if it has any, since palettes cannot be averaged."""
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _on_white(pillow: Any, image: Any) -> Any:
    if image.mode != "RGBA":
        return image
    white = pillow.new("RGBA", image.size, "white")
    return pillow.alpha_composite(white, image).convert("RGB")


def _saved(image: Any, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()
