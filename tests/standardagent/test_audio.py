"""Audio that people send and tools make: kept as artifacts, played to models that hear."""

import base64
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentslot.interaction import (
    ChannelSession,
    CompatibilityError,
    InProcessChannel,
    gateway_channel,
)
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
from agentslot.session import (
    AttachmentPart,
    ClassifiedError,
    FileArtifactsModule,
    MemoryStoreModule,
    Message,
    ModelConfig,
    RunStatus,
)
from agentslot.standardagent import AgentConfig, new_application
from agentslot.tool import Attachment, ToolsModule, artifact_read, function_tool
from tests.difftest.scenarios import SILENCE
from tests.loopback import Answer, Loopback, loopback
from tests.model.stages import VENDORS

SPEECH = b"ID3\x04" + bytes(60)
HEARS = frozenset({Modality.TEXT, Modality.AUDIO})

MODULES: dict[str, Callable[[str, list[ModelDescriptor]], ProviderModule]] = {
    "openai-completions": lambda url, m: OpenAICompatibleModule(f"{url}/v1", m),
    "anthropic-messages": lambda url, m: AnthropicModule(m, base_url=url, api_key_env=None),
    "openai-responses": lambda url, m: OpenAIResponsesModule(m, base_url=url, api_key_env=None),
    "google-generative-ai": lambda url, m: GoogleModule(m, base_url=url, api_key_env=None),
    "ollama-chat": lambda url, m: OllamaModule(m, host=url),
}
CARRY = ("openai-completions", "google-generative-ai")


@function_tool
async def ping() -> tuple[str, Attachment]:
    """Say something."""
    return "said", Attachment(SPEECH, "audio/mp3", "answer.mp3")


@asynccontextmanager
async def agent(
    folder: Path, wire: str, reads: frozenset[Modality] = HEARS
) -> AsyncGenerator[tuple[ChannelSession, Loopback]]:
    """A Session whose model calls `ping` and then says hi; there is another model, `deaf`."""
    vendor, channel = VENDORS[wire], InProcessChannel()
    model = vendor.config
    models = [
        ModelDescriptor(model.provider, name, ExecutionCapabilities(100_000, input_modalities=can))
        for name, can in ((model.model, reads), ("deaf", frozenset({Modality.TEXT})))
    ]
    answers = [
        Answer(body, content_type=vendor.content_type) for body in (vendor.call, vendor.answer)
    ]
    async with loopback(*answers) as server:
        application = new_application(
            "test",
            modules=[
                MemoryStoreModule(),
                FileArtifactsModule(folder),
                MODULES[wire](server.url, models),
                ToolsModule(ping, artifact_read),
                gateway_channel("test", channel),
            ],
            config=AgentConfig(tool_keys=("ping", "artifact_read")),
            default_model=model,
        )
        with anyio.fail_after(20):
            async with application.start():
                yield await channel.create_session(agent="a", workspace="w"), server


def played(body: bytes) -> list[Any]:
    """Every block of a request that holds audio."""
    found: list[Any] = []

    def look(members: dict[str, Any]) -> dict[str, Any]:
        held = members.get("input_audio") or members.get("inlineData")
        if held:
            found.append(held)
        return members

    json.loads(body, object_hook=look)
    return found


@pytest.mark.parametrize(
    ("wire", "of_person", "of_tool"),
    [
        ("openai-completions", {"format": "wav"}, {"format": "mp3"}),
        ("google-generative-ai", {"mimeType": "audio/wav"}, {"mimeType": "audio/mpeg"}),
    ],
)
async def test_a_model_that_hears_is_played_what_people_send_and_tools_make(
    wire: str, of_person: dict[str, str], of_tool: dict[str, str], tmp_path: Path
) -> None:
    async with agent(tmp_path, wire) as (session, server):
        note = Attachment(SILENCE, "audio/x-wav", "note.wav")
        result = await session.send_and_wait(["What do I say?", note])
        await session.send_and_wait("And now?")
        facts = (await session.history()).facts
    assert result.status is RunStatus.COMPLETED
    first = {**of_person, "data": base64.b64encode(SILENCE).decode()}
    second = {**of_tool, "data": base64.b64encode(SPEECH).decode()}
    shown = [played(each.body) for each in server.requests]
    assert shown == [[first], [first, second], [first, second]]
    [asked] = [f.payload for f in facts if isinstance(f.payload, Message)][:1]
    assert isinstance(asked.parts[1], AttachmentPart)
    assert (asked.parts[1].media_type, asked.parts[1].name) == ("audio/wav", "note.wav")


@pytest.mark.parametrize("wire", MODULES)
async def test_a_model_that_does_not_hear_reads_what_was_there(wire: str, tmp_path: Path) -> None:
    """Also one that would hear, over a wire that has no place for audio."""
    reads = frozenset({Modality.TEXT, Modality.IMAGE}) if wire in CARRY else HEARS
    async with agent(tmp_path, wire, reads) as (session, server):
        result = await session.send_and_wait(["Listen.", Attachment(SILENCE, "audio/wav", "n.wav")])
    assert result.status is RunStatus.COMPLETED
    body = server.requests[-1].body
    assert body.count(b"(audio omitted: model does not support audio)") == 2
    assert b"n.wav" in body
    assert b"answer.mp3" in body
    assert base64.b64encode(SILENCE) not in body


@pytest.mark.parametrize("wire", CARRY)
async def test_a_switch_to_a_model_that_does_not_hear_is_asked_about(
    wire: str, tmp_path: Path
) -> None:
    async with agent(tmp_path, wire) as (session, _):
        await session.send_and_wait(["Listen.", Attachment(SILENCE, "audio/wav")])
        deaf = ModelConfig(VENDORS[wire].config.provider, "deaf")
        with pytest.raises(CompatibilityError) as caught:
            await session.update_model_config(deaf)
    assert caught.value.lost == {Modality.AUDIO: 2}


@pytest.mark.parametrize("wire", CARRY)
async def test_audio_of_a_type_that_the_vendor_does_not_take_is_named(
    wire: str, tmp_path: Path
) -> None:
    async with agent(tmp_path, wire) as (session, server):
        await session.send_and_wait(Attachment(b"MThd", "audio/midi", "song.mid"))
    assert b"(audio omitted: model does not support audio/midi)" in server.requests[0].body


async def test_what_is_no_audio_of_its_type_is_refused_before_anything_is_sent(
    tmp_path: Path,
) -> None:
    async with agent(tmp_path, "openai-completions") as (session, server):
        with pytest.raises(ClassifiedError, match="is no audio/wav: it does not begin like one"):
            await session.send(Attachment(b"hello", "audio/wav"))
    assert not server.requests


async def test_audio_goes_under_its_own_type(tmp_path: Path) -> None:
    async with agent(tmp_path, "openai-completions") as (session, _):
        kept = [await session.attach(Attachment(content, "audio/mpeg")) for content in MAGIC]
    assert [each.media_type for each in kept] == list(MAGIC.values())


MAGIC = {
    SILENCE: "audio/wav",
    SPEECH: "audio/mpeg",
    b"\xff\xfb\x90\x00": "audio/mpeg",
    b"\xff\xf1\x50\x80": "audio/aac",
    b"fLaC\x00": "audio/flac",
    b"OggS\x00": "audio/ogg",
    b"FORM\x00\x00\x00\x04AIFF": "audio/aiff",
}
