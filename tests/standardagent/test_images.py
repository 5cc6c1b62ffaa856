"""Images that people send and tools make: kept as artifacts, shown to models that see."""

import base64
import io
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from PIL import Image

from agentslot import Application, Module
from agentslot.interaction import ChannelSession, InProcessChannel, gateway_channel
from agentslot.model import (
    AnthropicModule,
    ExecutionCapabilities,
    GoogleModule,
    Modality,
    ModelDescriptor,
    OllamaModule,
    OpenAICompatibleModule,
    OpenAIResponsesModule,
)
from agentslot.model.provider import ProviderModule
from agentslot.model.wires.attachments import Media
from agentslot.model.wires.openai_completions import OpenAICompletionsWire
from agentslot.session import (
    ARTIFACT_STORE,
    AttachmentPart,
    ClassifiedError,
    FileArtifacts,
    FileArtifactsModule,
    FileStore,
    FileStoreModule,
    MemoryStoreModule,
    Message,
    RunStatus,
    ToolResult,
)
from agentslot.session.artifact import Artifact
from agentslot.standardagent import (
    AgentConfig,
    ContextRetention,
    new_application,
    rebuilt_request,
)
from agentslot.tool import Attachment, ToolsModule, function_tool
from tests.loopback import Answer, Loopback, loopback
from tests.model.stages import VENDORS, Vendor


def png(color: str, width: int = 4) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, 3), color).save(buffer, "PNG")
    return buffer.getvalue()


BLUE, RED = png("blue"), png("red")


@function_tool
async def ping() -> tuple[str, Attachment]:
    """Take a picture."""
    return "taken", Attachment(RED, "image/png", "shot.png")


MODULES: dict[str, Callable[[str, ModelDescriptor], ProviderModule]] = {
    "openai-completions": lambda url, m: OpenAICompatibleModule(f"{url}/v1", [m]),
    "anthropic-messages": lambda url, m: AnthropicModule([m], base_url=url, api_key_env=None),
    "openai-responses": lambda url, m: OpenAIResponsesModule([m], base_url=url, api_key_env=None),
    "google-generative-ai": lambda url, m: GoogleModule([m], base_url=url, api_key_env=None),
    "ollama-chat": lambda url, m: OllamaModule([m], host=url),
}
SEES = frozenset({Modality.TEXT, Modality.IMAGE})
every_wire = pytest.mark.parametrize("wire", MODULES)


class Watched(FileArtifacts):
    """Counts how often each artifact is read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.opened: list[str] = []

    async def open(self, artifact_id: str) -> Artifact:
        self.opened.append(artifact_id)
        return await super().open(artifact_id)


def application(
    folder: Path,
    url: str,
    channel: InProcessChannel,
    *,
    wire: str = "openai-completions",
    reads: frozenset[Modality] = SEES,
    config: AgentConfig | None = None,
) -> Application:
    model = VENDORS[wire].config
    capabilities = ExecutionCapabilities(100_000, input_modalities=reads)
    return new_application(
        "test",
        modules=[
            FileStoreModule(folder / "sessions"),
            FileArtifactsModule(folder / "artifacts"),
            MODULES[wire](url, ModelDescriptor(model.provider, model.model, capabilities)),
            ToolsModule(ping),
            gateway_channel("test", channel),
        ],
        config=replace(config or AgentConfig(), tool_keys=("ping",)),
        default_model=model,
    )


def says(vendor: Vendor, *contents: bytes) -> list[Answer]:
    return [Answer(content, content_type=vendor.content_type) for content in contents]


@asynccontextmanager
async def agent(
    folder: Path,
    wire: str = "openai-completions",
    reads: frozenset[Modality] = SEES,
    config: AgentConfig | None = None,
) -> AsyncGenerator[tuple[ChannelSession, Loopback]]:
    """A Session whose model calls `ping` and then says hi, again and again."""
    vendor, channel = VENDORS[wire], InProcessChannel()
    with anyio.fail_after(20):
        async with loopback(*says(vendor, vendor.call, vendor.answer, vendor.answer)) as server:
            made = application(folder, server.url, channel, wire=wire, reads=reads, config=config)
            async with made.start():
                yield await channel.create_session(agent="a", workspace="w"), server


def count(body: bytes, *images: bytes) -> list[int]:
    return [body.count(base64.b64encode(image)) for image in images]


@every_wire
async def test_a_model_that_sees_is_shown_what_people_send_and_tools_make(
    wire: str, tmp_path: Path
) -> None:
    async with agent(tmp_path, wire) as (session, server):
        chart = Attachment(BLUE, "image/png", "chart.png")
        result = await session.send_and_wait(["What is it?", chart])
        await session.send_and_wait("And now?")
        facts = (await session.history()).facts
    assert result.status is RunStatus.COMPLETED
    assert [count(each.body, BLUE, RED) for each in server.requests] == [[1, 0], [1, 1], [1, 1]]
    [asked] = [f.payload for f in facts if isinstance(f.payload, Message)][:1]
    [taken] = [f.payload for f in facts if isinstance(f.payload, ToolResult)]
    assert isinstance(asked.parts[1], AttachmentPart)
    assert (asked.parts[1].media_type, asked.parts[1].name) == ("image/png", "chart.png")
    assert taken.artifacts[0].name == "shot.png"
    [session_file] = (tmp_path / "sessions").glob("**/*.jsonl")
    assert base64.b64encode(BLUE) not in session_file.read_bytes()


@every_wire
async def test_a_model_that_does_not_see_reads_what_was_there(wire: str, tmp_path: Path) -> None:
    async with agent(tmp_path, wire, frozenset({Modality.TEXT})) as (session, server):
        result = await session.send_and_wait(["Look.", Attachment(BLUE, "image/png", "c.png")])
    assert result.status is RunStatus.COMPLETED
    body = server.requests[-1].body
    assert count(body, BLUE, RED) == [0, 0]
    assert body.count(b"(image omitted: model does not support images)") == 2
    assert b"c.png" in body
    assert b"shot.png" in body


@every_wire
async def test_an_image_that_has_gone_is_named_and_the_run_goes_on(
    wire: str, tmp_path: Path
) -> None:
    async with agent(tmp_path, wire) as (session, _):
        await session.send_and_wait(["Look.", Attachment(BLUE, "image/png")])
        session_id = session.id
    for kept in (tmp_path / "artifacts").iterdir():
        kept.unlink()
    vendor, channel = VENDORS[wire], InProcessChannel()
    async with (
        loopback(*says(vendor, vendor.answer)) as server,
        application(tmp_path, server.url, channel, wire=wire).start(),
    ):
        session = await channel.resume_session(session_id)
        result = await session.send_and_wait("And now?")
    assert result.status is RunStatus.COMPLETED
    body = server.requests[-1].body
    assert count(body, BLUE, RED) == [0, 0]
    assert body.count(b"(image omitted: it is not stored any more") == 2


async def test_an_image_is_read_once_however_long_the_conversation_is(tmp_path: Path) -> None:
    vendor, channel = VENDORS["openai-completions"], InProcessChannel()
    artifacts = Watched(tmp_path)
    capabilities = ExecutionCapabilities(100_000, input_modalities=SEES)
    async with loopback(*says(vendor, vendor.call, vendor.answer)) as server:
        seeing = ModelDescriptor("openai", "m", capabilities)
        made = new_application(
            "test",
            modules=[
                MemoryStoreModule(),
                MODULES["openai-completions"](server.url, seeing),
                ToolsModule(ping),
                gateway_channel("test", channel),
                Module("artifacts", ARTIFACT_STORE.set(artifacts)),
            ],
            config=AgentConfig(tool_keys=("ping",)),
            default_model=vendor.config,
        )
        async with made.start():
            session = await channel.create_session(agent="a", workspace="w")
            await session.send_and_wait(Attachment(BLUE, "image/png"))
            for _ in range(3):
                await session.send_and_wait("And now?")
    assert len(server.requests) == 5
    assert len(artifacts.opened) == len({*artifacts.opened}) == 2


@pytest.mark.parametrize("retention", ContextRetention)
async def test_every_recorded_request_with_images_can_be_made_again_byte_for_byte(
    retention: ContextRetention, tmp_path: Path
) -> None:
    config = AgentConfig(system_prompt="Be exact.", context_retention=retention)
    async with agent(tmp_path, config=config) as (session, server):
        await session.send_and_wait(["Look.", Attachment(BLUE, "image/png")])
        await session.send_and_wait("And now?")
        session_id = session.id
    async with FileStore(tmp_path / "sessions") as stored:
        state = (await stored.load(session_id)).state
    assert state.context is not None
    views = [*state.retained_contexts, state.context]
    assert len(views) == (3 if retention is ContextRetention.RETAIN_ALL else 1)
    artifacts = FileArtifacts(tmp_path / "artifacts")
    for view, sent in zip(views, server.requests[-len(views) :], strict=True):
        wire = OpenAICompletionsWire(f"{server.url}/v1")
        request = rebuilt_request(state, view)
        images = {
            part.artifact_id: base64.b64encode((await artifacts.open(part.artifact_id)).body)
            for part in wire.new_attachments(request)
        }
        assert wire.encode(request, Media(images, SEES)).body == sent.body


REFUSED = {
    "is no image/png: it does not begin like one": Attachment(b"GIF", "image/png", "a.png"),
    "has more than 20 MiB": Attachment(bytes(20 * 1024 * 1024 + 1), "text/plain"),
    "is a PNG without pixels; it is damaged": Attachment(BLUE[:33], "image/png"),
}


@pytest.mark.parametrize("problem", REFUSED)
async def test_what_cannot_be_an_attachment_is_refused_before_anything_is_sent(
    problem: str, tmp_path: Path
) -> None:
    async with agent(tmp_path) as (session, server):
        with pytest.raises(ClassifiedError, match=problem) as caught:
            await session.send(["Look.", REFUSED[problem]])
        assert (await session.view()).revision == session.revision == 1
    assert caught.value.code == "invalid_attachment"
    assert not server.requests


async def test_an_image_goes_under_its_own_type_and_a_large_one_is_made_smaller(
    tmp_path: Path,
) -> None:
    async with agent(tmp_path) as (session, _):
        kept = await session.attach(Attachment(png("green", 3000), "image/jpeg"))
    assert kept.media_type == "image/png"
    content = (await FileArtifacts(tmp_path / "artifacts").open(kept.artifact_id)).body
    assert Image.open(io.BytesIO(content)).size[0] == 2000


async def test_without_an_artifact_store_an_attachment_is_refused_with_what_to_add(
    tmp_path: Path,
) -> None:
    vendor, channel = VENDORS["openai-completions"], InProcessChannel()
    modules = [
        MemoryStoreModule(),
        MODULES["openai-completions"](
            "http://127.0.0.1:1", ModelDescriptor("openai", "m", ExecutionCapabilities(9))
        ),
        gateway_channel("test", channel),
    ]
    async with new_application("t", modules=modules, default_model=vendor.config).start():
        session = await channel.create_session(agent="a", workspace="w")
        with pytest.raises(ClassifiedError, match="FileArtifactsModule"):
            await session.attach(Attachment(BLUE, "image/png"))
