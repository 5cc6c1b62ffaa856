"""Switching a Session to a model that cannot read what the Session holds."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from agentslot.interaction import ChannelSession, CompatibilityError, InProcessChannel
from agentslot.model import ExecutionCapabilities, Modality, ModelConfig
from agentslot.session import (
    AttachmentPart,
    ClassifiedError,
    Delivery,
    MemoryArtifactsModule,
    MessageInput,
    ModelConfigChanged,
    TextPart,
)
from agentslot.tool import Attachment, function_tool
from tests.standardagent.agents import (
    MODEL,
    Answer,
    ScriptedModel,
    answer,
    call,
    calls,
    scripted_application,
)

BLIND = ModelConfig("test", "blind")
DEAF = ModelConfig("test", "deaf")
READS = {
    MODEL.model: frozenset(Modality),
    BLIND.model: frozenset({Modality.TEXT}),
    DEAF.model: frozenset({Modality.TEXT, Modality.IMAGE}),
}
PHOTO = AttachmentPart("a", "image/png")
SPEECH = AttachmentPart("b", "audio/wav")
REPORT = AttachmentPart("c", "application/pdf")


class Models(ScriptedModel):
    def inspect(self, config: ModelConfig) -> ExecutionCapabilities:
        return ExecutionCapabilities(100_000, input_modalities=READS[config.model])


@function_tool
async def plot() -> Attachment:
    """Draw."""
    return Attachment(b"GIF89a", "image/gif")


@asynccontextmanager
async def session(*script: Answer) -> AsyncGenerator[ChannelSession]:
    channel = InProcessChannel()
    made = scripted_application(
        Models(script), channel, tools=[plot], modules=[MemoryArtifactsModule()]
    )
    with anyio.fail_after(20):
        async with made.start():
            yield await channel.create_session(agent="a", workspace="w")


async def test_what_the_other_model_cannot_read_has_to_be_accepted() -> None:
    async with session(calls(call("plot")), answer("hi"), answer("hi")) as talk:
        await talk.send_and_wait([TextPart("look and listen"), PHOTO, SPEECH, REPORT])
        before = talk.revision
        with pytest.raises(CompatibilityError) as refused:
            await talk.update_model_config(BLIND)
        assert (await talk.view()).revision == before
        await talk.update_model_config(BLIND, accept_compatibility_loss=True)
        view = await talk.view()
        assert view.model_config == BLIND
        assert isinstance(view.recent_history[-1].payload, ModelConfigChanged)
        await talk.send_and_wait("and now?")
    assert refused.value.lost == {Modality.IMAGE: 2, Modality.AUDIO: 1}
    assert refused.value.code == "compatibility_confirmation_required"
    assert refused.value.message == (
        "the Session holds 2 image attachments and 1 audio attachment that model 'blind' cannot"
        " read: it would be told their names instead; switch with accept_compatibility_loss=True,"
        " or choose another model"
    )


async def test_only_what_that_very_model_cannot_read_counts() -> None:
    async with session(answer("hi")) as talk:
        await talk.send_and_wait([PHOTO, REPORT])
        await talk.update_model_config(DEAF)
        assert (await talk.view()).model_config == DEAF


async def test_a_session_without_attachments_needs_no_word() -> None:
    async with session(answer("hi")) as talk:
        await talk.send_and_wait("hi")
        await talk.update_model_config(BLIND)
        assert (await talk.view()).model_config == BLIND


async def test_what_waits_in_the_queue_counts_too() -> None:
    hold = anyio.Event()
    channel = InProcessChannel()
    model = Models([answer("hi", hold=hold)])
    with anyio.fail_after(20):
        async with scripted_application(model, channel).start():
            talk = await channel.create_session(agent="a", workspace="w")
            await talk.send("hi")
            await model.streaming.wait()
            await talk.steer(MessageInput((PHOTO,)))
            await talk.cancel()
            await talk.when_idle()
            [waiting] = (await talk.view()).queue
            assert waiting.delivery is Delivery.HELD
            with pytest.raises(CompatibilityError):
                await talk.update_model_config(BLIND)


async def test_accepting_a_loss_does_not_switch_in_the_middle_of_a_run() -> None:
    hold = anyio.Event()
    channel = InProcessChannel()
    model = Models([answer("hi", hold=hold)])
    with anyio.fail_after(20):
        async with scripted_application(model, channel).start():
            talk = await channel.create_session(agent="a", workspace="w")
            await talk.send(PHOTO)
            await model.streaming.wait()
            with pytest.raises(ClassifiedError, match="a Run is active"):
                await talk.update_model_config(BLIND, accept_compatibility_loss=True)
            hold.set()
