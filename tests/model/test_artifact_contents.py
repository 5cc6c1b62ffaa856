"""Reading images for a request: bounded, and without failing it."""

import logging
from base64 import b64encode

import pytest

from agentslot.model import artifactcontents
from agentslot.model.artifactcontents import ArtifactContents
from agentslot.session import AttachmentPart, MemoryArtifacts


async def kept(store: MemoryArtifacts, content: bytes, media_type: str = "image/png") -> str:
    return (await store.write(media_type, "", content)).id


async def test_images_beyond_the_bound_are_left_out_and_smaller_ones_behind_them_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(artifactcontents, "MAX_NEW_BYTES", 10)
    images, store = ArtifactContents(), MemoryArtifacts()
    images.store = store
    ids = [await kept(store, content) for content in (b"123456", b"12345", b"1234")]
    read = await images.read([AttachmentPart(each, "image/png") for each in ids])
    assert read == {ids[0]: b64encode(b"123456"), ids[2]: b64encode(b"1234")}


async def test_what_is_there_under_another_type_is_not_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    images, store = ArtifactContents(), MemoryArtifacts()
    images.store = store
    document = await kept(store, b"%PDF", "application/pdf")
    with caplog.at_level(logging.WARNING):
        parts = [AttachmentPart(document, "image/png"), AttachmentPart("gone", "image/png")]
        assert await images.read(parts) == {}
    assert "there is no artifact 'gone'" in caplog.text


async def test_without_a_store_there_is_nothing_to_read() -> None:
    assert await ArtifactContents().read([AttachmentPart("a", "image/png")]) == {}
