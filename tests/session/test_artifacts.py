"""Artifacts: content outside of History, in memory and in files."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from agentslot import Application
from agentslot.session import (
    ARTIFACT_STORE,
    ArtifactMetadata,
    ArtifactStore,
    ClassifiedError,
    FileArtifacts,
    FileArtifactsModule,
    FileOperations,
    MemoryArtifacts,
    MemoryArtifactsModule,
)
from agentslot.session.conformance import ConformanceFailure, check_artifact_store

STORES: list[Callable[[Path], ArtifactStore]] = [lambda _: MemoryArtifacts(), FileArtifacts]


@pytest.mark.parametrize("make", STORES)
async def test_every_store_keeps_the_contract(
    make: Callable[[Path], ArtifactStore], tmp_path: Path
) -> None:
    await check_artifact_store(make(tmp_path / "artifacts"))


async def test_the_referee_finds_a_store_that_forgets_the_name() -> None:
    class Nameless(MemoryArtifacts):
        async def write(self, media_type: str, name: str, body: bytes) -> ArtifactMetadata:
            return await super().write(media_type, "", body)

    with pytest.raises(ConformanceFailure):
        await check_artifact_store(Nameless())


async def test_what_one_store_wrote_another_reads(tmp_path: Path) -> None:
    metadata = await FileArtifacts(tmp_path).write("image/png", "plot.png", b"\x89PNG")
    assert (await FileArtifacts(tmp_path).open(metadata.id)).body == b"\x89PNG"
    [file] = tmp_path.iterdir()  # noqa: ASYNC240  # nothing else runs
    assert file.name == f"{metadata.id}.artifact"
    assert file.stat().st_mode & 0o777 == 0o600


DAMAGES: list[Callable[[bytes], bytes]] = [
    lambda content: content + b"x",
    lambda content: content[:-1],
    lambda content: content.replace(b"hello", b"jello"),
    lambda content: content.replace(b"text/plain", b"text/html!"),
    lambda content: b"",
    lambda content: b"[]\n" + content,
    lambda content: b"\xff" * 100,
]


@pytest.mark.parametrize("damage", DAMAGES)
async def test_damage_is_named_and_nothing_wrong_is_given_out(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    store = FileArtifacts(tmp_path)
    metadata = await store.write("text/plain", "a.txt", b"hello")
    path = anyio.Path(tmp_path / f"{metadata.id}.artifact")
    await path.write_bytes(damage(await path.read_bytes()))
    with pytest.raises(ClassifiedError, match="artifact_damaged"):
        await store.open(metadata.id)
    with pytest.raises(ClassifiedError, match="artifact_damaged"):
        await store.write("text/plain", "a.txt", b"hello")


class Full(FileOperations):
    """A disk that takes three bytes."""

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        if offset >= 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(descriptor, data[:1], offset)


async def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    with pytest.raises(ClassifiedError, match="No space left") as caught:
        await FileArtifacts(tmp_path, Full()).write("text/plain", "a.txt", b"hello")
    assert caught.value.code == "artifacts_unavailable"
    assert os.listdir(tmp_path) == []


async def test_a_link_is_not_followed(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    await anyio.Path(tmp_path / f"{'a' * 64}.artifact").symlink_to("/etc/passwd")
    with pytest.raises(ClassifiedError, match="artifacts_unavailable"):
        await store.open("a" * 64)


def test_the_modules_fill_the_slot(tmp_path: Path) -> None:
    for module in (MemoryArtifactsModule(), FileArtifactsModule(tmp_path / "artifacts")):
        assert Application("artifacts", [module]).build()[ARTIFACT_STORE] is not None
    assert os.listdir(tmp_path) == []
