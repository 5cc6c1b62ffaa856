"""Results that are too large or no text: kept as artifacts."""

import io
import json
from pathlib import Path

import pytest
from PIL import Image

from agentslot.session import MemoryArtifacts, ToolResult
from agentslot.tool import Attachment, Tool, artifact_read, function_tool
from agentslot.tool.files import FileRoot, FileTools
from tests.tool.invoking import invocation, invoke, output


def png(width: int = 4, height: int = 3) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), "blue").save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture
def store() -> MemoryArtifacts:
    return MemoryArtifacts()


async def call(
    tool: Tool, store: MemoryArtifacts | None, max_bytes: int = 65536, **arguments: object
) -> ToolResult:
    text = json.dumps(arguments)
    return await tool.invoke(invocation(tool.definition.name, text, max_bytes, store))


@function_tool
async def plot() -> tuple[str, Attachment]:
    """Draw."""
    return "drawn", Attachment(png(), "image/png", "plot.png")


@function_tool
def report() -> Attachment:
    """Write."""
    return Attachment(b"%PDF-", "application/pdf", "report.pdf")


@function_tool
def many(count: int) -> list[int]:
    """Count."""
    return list(range(count))


async def test_a_function_returns_text_and_an_image(store: MemoryArtifacts) -> None:
    result = await call(plot, store)
    [metadata] = result.artifacts
    assert output(result) == "drawn"
    assert (metadata.media_type, metadata.name) == ("image/png", "plot.png")
    assert (await store.open(metadata.id)).body == png()


async def test_a_function_returns_a_document_alone(store: MemoryArtifacts) -> None:
    result = await call(report, store)
    assert result.output is None
    assert [made.name for made in result.artifacts] == ["report.pdf"]


async def test_a_large_image_is_kept_in_a_size_that_models_take(store: MemoryArtifacts) -> None:
    @function_tool
    def large() -> Attachment:
        """Draw."""
        return Attachment(png(3000, 10), "image/png")

    [metadata] = (await call(large, store)).artifacts
    assert Image.open(io.BytesIO((await store.open(metadata.id)).body)).width == 2000


async def test_without_a_store_an_attachment_is_a_failure_that_says_so() -> None:
    result = await call(plot, None)
    assert result.error is not None
    assert result.error.code == "artifacts_unavailable"


async def test_a_malformed_attachment_is_a_failure(store: MemoryArtifacts) -> None:
    @function_tool
    def bad() -> Attachment:
        """Draw."""
        return Attachment(b"", "no type")

    result = await call(bad, store)
    assert result.error is not None
    assert result.error.code == "invalid_artifact"


async def test_an_output_too_long_is_kept_whole_and_its_beginning_shown(
    store: MemoryArtifacts,
) -> None:
    result = await call(many, store, 2000, count=5000)
    [metadata] = result.artifacts
    assert result.output is not None
    assert len(result.output) <= 2000
    assert output(result).startswith("[0,1,2,3")
    assert f"the whole result is artifact {metadata.id}" in output(result)
    assert json.loads((await store.open(metadata.id)).body) == list(range(5000))


async def test_without_a_store_an_output_too_long_is_a_failure() -> None:
    result = await call(many, None, 2000, count=5000)
    assert result.error is not None
    assert result.error.code == "result_too_large"


async def test_an_artifact_is_read_on_by_the_call_that_is_named(store: MemoryArtifacts) -> None:
    text = "".join(f"line {n} ü\n" for n in range(9000))
    metadata = await store.write("text/plain", "log.txt", text.encode())
    read, start = "", 0
    while True:
        shown = output(await call(artifact_read, store, artifact=metadata.id, start=start))
        piece, _, note = shown.rpartition("\n[")
        read += piece
        if "continue with" not in note:
            break
        start = int(note.rpartition("start=")[2].rstrip("]"))
    assert read == text


@pytest.mark.parametrize("media_type", ["image/png", "audio/wav"])
async def test_an_artifact_that_is_an_image_or_audio_is_shown_as_such(
    store: MemoryArtifacts, media_type: str
) -> None:
    metadata = await store.write(media_type, "made", png())
    result = await call(artifact_read, store, artifact=metadata.id)
    assert result.artifacts == (metadata,)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"artifact": "unknown"}, "artifact_not_found"),
        ({"artifact": 5, "x": 1}, "invalid_arguments"),
    ],
)
async def test_an_artifact_that_is_not_there_is_a_failure(
    store: MemoryArtifacts, arguments: dict[str, object], expected: str
) -> None:
    call_ = invocation("artifact_read", json.dumps(arguments), artifacts=store)
    result = await artifact_read.invoke(call_)
    assert result.error is not None
    assert result.error.code == expected


async def test_reading_an_image_file_gives_an_artifact(
    tmp_path: Path, store: MemoryArtifacts
) -> None:
    (tmp_path / "picture.txt").write_bytes(png())  # told by its content, not by its name
    read = FileTools(FileRoot(tmp_path)).tools()[0]
    result = await call(read, store, path="picture.txt")
    [metadata] = result.artifacts
    assert (metadata.media_type, metadata.name) == ("image/png", "picture.txt")
    without = await invoke(read, path="picture.txt")
    assert output(without).endswith("images cannot be shown here]")


async def test_an_image_that_no_model_takes_is_described(
    tmp_path: Path, store: MemoryArtifacts
) -> None:
    buffer = io.BytesIO()
    Image.new("CMYK", (4, 4)).save(buffer, "JPEG")
    (tmp_path / "print.jpg").write_bytes(buffer.getvalue())
    read = FileTools(FileRoot(tmp_path)).tools()[0]
    result = await call(read, store, path="print.jpg")
    assert output(result) == "[image: a JPEG in CMYK; convert it to RGB]"
    assert result.artifacts == ()


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"no image", "is no image/png"), (png()[:33], "is a PNG without pixels")],
)
async def test_an_image_that_providers_refuse_fails_its_call_and_not_every_request_after_it(
    content: bytes, problem: str, store: MemoryArtifacts
) -> None:
    @function_tool
    def broken() -> Attachment:
        """Draw."""
        return Attachment(content, "image/png", "x.png")

    result = await call(broken, store)
    assert result.error is not None
    assert result.error.code == "invalid_attachment"
    assert problem in result.error.message
    assert not result.artifacts
