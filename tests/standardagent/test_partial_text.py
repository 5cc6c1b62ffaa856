"""What a model had said when its answer ended early: kept for people, never shown to a model."""

from pathlib import Path

import anyio
import pytest

from agentslot import Application, Module
from agentslot.interaction import ChannelSession, InProcessChannel, TextChunk, gateway_channel
from agentslot.model import (
    MODEL_EXECUTOR,
    TOKEN_COUNTER,
    Completion,
    ModelConfig,
    ModelError,
    ModelErrorCode,
    ModelRequest,
    TokenCount,
)
from agentslot.model.testing import Script, ScriptedExecutor, text_answer
from agentslot.session import (
    FileStore,
    FileStoreModule,
    Message,
    ModelAttempt,
    SessionId,
    TextPart,
)
from agentslot.standardagent import new_application
from agentslot.standardagent.command import main

ANSWER = Completion((TextPart("Done."),))
BROKEN = ModelError(ModelErrorCode.BROKEN_STREAM, "the stream broke", retryable=True)


class OneToken:
    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        return TokenCount(1)


def agent(folder: Path, executor: ScriptedExecutor, channel: InProcessChannel) -> Application:
    return new_application(
        "test",
        modules=[
            FileStoreModule(folder),
            Module("test.model", MODEL_EXECUTOR.set(executor), TOKEN_COUNTER.set(OneToken())),
            gateway_channel("test", channel),
        ],
        default_model=ModelConfig("p", "m"),
    )


async def cancel_while_it_speaks(session: ChannelSession) -> None:
    async with session.events() as events:
        await session.send("Tell me.")
        async for event in events:
            if isinstance(event, TextChunk):
                await session.cancel()
                break
    await session.when_idle()


async def kept(folder: Path, session_id: SessionId) -> list[str]:
    state = (await FileStore(folder).load(session_id)).state
    attempts = [fact.payload for fact in state.history if isinstance(fact.payload, ModelAttempt)]
    return [attempt.partial_text for attempt in attempts if attempt.error_code]


async def test_text_of_a_cancelled_answer_is_kept_and_not_shown_to_the_model(
    tmp_path: Path,
) -> None:
    channel = InProcessChannel()
    executor = ScriptedExecutor(text_answer("It all began", gate=anyio.Event()), Script(ANSWER))
    async with agent(tmp_path, executor, channel).start():
        session = await channel.create_session(agent="a", workspace="w")
        await cancel_while_it_speaks(session)
        result = await session.send_and_wait("Go on.")
    assert result.text == "Done."
    assert await kept(tmp_path, session.id) == ["It all began"]
    shown = [item.text for item in executor.requests[-1].inputs if isinstance(item, Message)]
    assert shown == ["Tell me.", "Go on."]


async def test_each_attempt_that_broke_keeps_its_own_text(tmp_path: Path) -> None:
    channel = InProcessChannel()
    executor = ScriptedExecutor(
        Script(BROKEN, deltas=("Once",)), Script(BROKEN), Script(ANSWER, deltas=("Done.",))
    )
    async with agent(tmp_path, executor, channel).start():
        session = await channel.create_session(agent="a", workspace="w")
        await session.send_and_wait("Tell me.")
    assert await kept(tmp_path, session.id) == ["Once", ""]


@pytest.mark.parametrize("show", [["show"], ["export"], ["export", "--format", "html"]])
async def test_a_transcript_shows_it_and_says_that_it_was_cut_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], show: list[str]
) -> None:
    channel = InProcessChannel()
    executor = ScriptedExecutor(text_answer("It all began", gate=anyio.Event()))
    async with agent(tmp_path, executor, channel).start():
        session = await channel.create_session(agent="a", workspace="w")
        await cancel_while_it_speaks(session)
    assert await anyio.to_thread.run_sync(main, ["sessions", *show, str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "assistant, cut off" in printed
    assert "It all began" in printed
