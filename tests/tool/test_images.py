"""Images on their way to a model: small enough, and otherwise untouched."""

import io
import os
import struct
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from agentslot.tool.images import MAX_BASE64_BYTES, MAX_SIDE, image_problem, normalize_image


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def opened(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


SMALL = Image.new("RGB", (8, 6), "red")
KINDS = [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/gif"), ("WEBP", "image/webp")]


@pytest.mark.parametrize(("kind", "media_type"), KINDS)
def test_an_image_that_conforms_stays_byte_for_byte(kind: str, media_type: str) -> None:
    content = saved(SMALL, kind)
    assert normalize_image(content, media_type) == (content, media_type)


@pytest.mark.parametrize(("kind", "media_type"), KINDS)
def test_a_large_image_is_brought_within_its_sides_and_keeps_its_shape(
    kind: str, media_type: str
) -> None:
    content, new_type = normalize_image(saved(Image.new("RGB", (4000, 1000)), kind), media_type)
    assert opened(content).size == (MAX_SIDE, 500)
    assert new_type == ("image/png" if kind in {"PNG", "GIF"} else "image/jpeg")
    assert normalize_image(content, new_type) == (content, new_type)


def test_the_budget_is_that_of_the_base64_text() -> None:
    picture = Image.frombytes("RGB", (1150, 1100), os.urandom(1150 * 1100 * 3))
    content = saved(picture, "PNG", compress_level=0)
    assert len(content) < MAX_BASE64_BYTES < len(content) * 4 / 3
    smaller, media_type = normalize_image(content, "image/png")
    assert media_type == "image/jpeg"
    assert len(smaller) * 4 / 3 <= MAX_BASE64_BYTES
    assert opened(smaller).size == picture.size


def test_what_is_transparent_becomes_white_where_it_has_to_become_a_jpeg() -> None:
    picture = Image.frombytes("RGBA", (1200, 1100), os.urandom(1200 * 1100 * 4))
    picture.paste((0, 0, 0, 0), (0, 0, 100, 100))
    content, media_type = normalize_image(saved(picture, "PNG", compress_level=0), "image/png")
    assert media_type == "image/jpeg"
    pixel = opened(content).getpixel((50, 50))
    assert isinstance(pixel, tuple)
    assert min(pixel) > 230


def test_shrinking_averages_pixels() -> None:
    stripes = Image.frombytes("L", (4000, 4), b"\x00\xff" * 2000 * 4)
    content, _ = normalize_image(saved(stripes.convert("RGB"), "PNG"), "image/png")
    assert opened(content).getpixel((1000, 0)) in {(127, 127, 127), (128, 128, 128)}


def test_a_transparent_image_that_fits_as_png_keeps_its_transparency() -> None:
    content, media_type = normalize_image(
        saved(Image.new("RGBA", (3000, 10), (1, 2, 3, 0)), "PNG"), "image/png"
    )
    assert media_type == "image/png"
    assert opened(content).getchannel("A").getextrema() == (0, 0)


def test_of_an_animation_the_first_frame_is_kept() -> None:
    frames = [Image.new("P", (3000, 10), color) for color in (0, 1)]
    content = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    still, media_type = normalize_image(content, "image/gif")
    assert media_type == "image/png"
    assert getattr(opened(still), "n_frames", 1) == 1


def test_a_huge_claim_is_not_decoded() -> None:
    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    bomb = (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100))
    )
    assert normalize_image(bomb, "image/png") == (bomb, "image/png")
    vast = saved(Image.new("1", (8000, 8000)), "PNG")
    assert len(vast) < 20_000
    assert normalize_image(vast, "image/png") == (vast, "image/png")


@settings(deadline=None)
@given(st.binary(max_size=200), st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0"]))
def test_what_cannot_be_read_comes_back_as_it_was(content: bytes, magic: bytes) -> None:
    assert normalize_image(magic + content, "image/png") == (magic + content, "image/png")
    image_problem(magic + content)


PROBLEMS: list[tuple[Callable[[], bytes], str]] = [
    (lambda: saved(Image.new("CMYK", (4, 4)), "JPEG"), "CMYK"),
    (
        lambda: saved(SMALL, "PNG", save_all=True, append_images=[Image.new("RGB", (8, 6))]),
        "animated",
    ),
    (lambda: b"\x89PNG\r\n\x1a\n" + chunk(b"tEXt", b"a\0b") + saved(SMALL, "PNG")[8:], "header"),
    (lambda: saved(SMALL, "PNG")[:40], "without pixels"),
]


@pytest.mark.parametrize(("make", "expected"), PROBLEMS)
def test_an_image_that_providers_refuse_is_named(make: Callable[[], bytes], expected: str) -> None:
    problem = image_problem(make())
    assert problem is not None
    assert expected in problem


@pytest.mark.parametrize(("kind", "media_type"), KINDS)
def test_ordinary_images_have_no_problem(kind: str, media_type: str) -> None:
    assert image_problem(saved(SMALL, kind)) is None
    assert image_problem(saved(SMALL, "JPEG", exif=b"Exif\0\0" + b"\0" * 20)) is None
    assert media_type
