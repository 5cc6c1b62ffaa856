"""The referee of `artifact.store/v1`: what every store of artifacts does."""

from collections.abc import Awaitable, Callable

from agentslot._conformance import expect, run_check
from agentslot.session.artifact import ArtifactStore
from agentslot.session.conformance.check import expect_refusal

ArtifactCheck = Callable[[ArtifactStore], Awaitable[None]]
"""Raises a ConformanceFailure if the store does not do what the contract says."""


async def content_comes_back(store: ArtifactStore) -> None:
    """Whatever its bytes and its size."""
    check = "content_comes_back"
    for body in (b"", b"text\n", bytes(range(256)) * 300):
        metadata = await store.write("application/octet-stream", "data.bin", body)
        found = await store.open(metadata.id)
        expect(check, found.body == body, f"{len(body)} bytes came back as others")
        expect(check, found.metadata == metadata, "its metadata came back as other")
        expect(check, metadata.size == len(body), f"its size is said to be {metadata.size}")


async def the_same_content_is_one_artifact(store: ArtifactStore) -> None:
    """Under the same name and type; else it is another one."""
    check = "the_same_content_is_one_artifact"
    first = await store.write("text/plain", "a.txt", b"same")
    expect(check, await store.write("text/plain", "a.txt", b"same") == first, "it has two ids")
    for other in (("text/html", "a.txt", b"same"), ("text/plain", "b.txt", b"same")):
        expect(check, (await store.write(*other)).id != first.id, f"{other} has the same id")


async def what_cannot_be_named_is_refused(store: ArtifactStore) -> None:
    """A media type is in its plain form, and a name is one short line."""
    check = "what_cannot_be_named_is_refused"
    for media_type in ("", "png", "Image/PNG", "text/plain; charset=utf-8", "a/b/c"):
        await expect_refusal(check, "invalid_artifact", store.write(media_type, "x", b""))
    for name in ("two\nlines", " padded ", "n" * 300):
        await expect_refusal(check, "invalid_artifact", store.write("text/plain", name, b""))


async def what_is_unknown_is_not_found(store: ArtifactStore) -> None:
    """Also if it is no id at all."""
    check = "what_is_unknown_is_not_found"
    for unknown in ("0" * 64, "../secret", "", "\0"):
        await expect_refusal(check, "artifact_not_found", store.open(unknown))


ARTIFACT_CONTRACT = "artifact.store/v1"
ARTIFACT_CHECKS: tuple[ArtifactCheck, ...] = (
    content_comes_back,
    the_same_content_is_one_artifact,
    what_cannot_be_named_is_refused,
    what_is_unknown_is_not_found,
)


async def check_artifact_store(store: ArtifactStore) -> None:
    """Run all checks on an empty store.

    Raises:
        ConformanceFailure: the first check that fails, and what was wrong.
    """
    for check in ARTIFACT_CHECKS:
        await run_check("the store", check, store)
