"""The referee of `artifact.store/v1`: what every store of artifacts does."""

from agentslot._conformance import expect
from agentslot.session.artifact import ArtifactStore
from agentslot.session.conformance.check import expect_refusal

ARTIFACT_CONTRACT = "artifact.store/v1"


async def check_artifact_store(store: ArtifactStore) -> None:
    """Run all checks on an empty store.

    Raises:
        ConformanceFailure: the first check that fails, and what was wrong.
    """
    await _content_comes_back(store)
    await _the_same_content_is_one_artifact(store)
    await _what_cannot_be_named_is_refused(store)
    for unknown in ("0" * 64, "../secret", "", "\0"):
        await expect_refusal("unknown artifact", "artifact_not_found", store.open(unknown))


async def _content_comes_back(store: ArtifactStore) -> None:
    for body in (b"", b"text\n", bytes(range(256)) * 300):
        metadata = await store.write("application/octet-stream", "data.bin", body)
        found = await store.open(metadata.id)
        expect("content", found.body == body, f"{len(body)} bytes came back as others")
        expect("content", found.metadata == metadata, "its metadata came back as other")
        expect("content", metadata.size == len(body), f"its size is said to be {metadata.size}")


async def _the_same_content_is_one_artifact(store: ArtifactStore) -> None:
    first = await store.write("text/plain", "a.txt", b"same")
    expect("identity", await store.write("text/plain", "a.txt", b"same") == first, "it has two ids")
    for other in (("text/html", "a.txt", b"same"), ("text/plain", "b.txt", b"same")):
        expect("identity", (await store.write(*other)).id != first.id, f"{other} has the same id")


async def _what_cannot_be_named_is_refused(store: ArtifactStore) -> None:
    for media_type in ("", "png", "Image/PNG", "text/plain; charset=utf-8", "a/b/c"):
        attempt = store.write(media_type, "x", b"")
        await expect_refusal(f"media type {media_type!r}", "invalid_artifact", attempt)
    for name in ("two\nlines", " padded ", "n" * 300):
        attempt = store.write("text/plain", name, b"")
        await expect_refusal(f"name {name[:10]!r}", "invalid_artifact", attempt)
