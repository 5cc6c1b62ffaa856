"""Why a model stopped: recorded with its attempt, told in the result, shown if it was cut off."""

from pathlib import Path

import anyio
import pytest

from agentslot.interaction import InProcessChannel, RunResult
from agentslot.model import Completion, FinishReason
from agentslot.model.testing import Script, ScriptedExecutor
from agentslot.session import FileStore, ModelAttempt, SessionId, TextPart
from agentslot.standardagent.command import main
from tests.standardagent.test_partial_text import BROKEN, agent


async def run(folder: Path, *scripts: Script) -> tuple[RunResult, SessionId]:
    channel = InProcessChannel()
    async with agent(folder, ScriptedExecutor(*scripts), channel).start():
        session = await channel.create_session(agent="a", workspace="w")
        return await session.send_and_wait("Tell me."), session.id


def said(text: str, finish: FinishReason, raw: str = "") -> Script:
    return Script(Completion((TextPart(text),), finish=finish, raw_finish=raw))


@pytest.mark.parametrize(
    ("finish", "raw", "reason"),
    [
        (FinishReason.STOP, "end_turn", "stop"),
        (FinishReason.LENGTH, "max_tokens", "length"),
        (FinishReason.OTHER, "pause_turn", "pause_turn"),
        (FinishReason.OTHER, "\x1b[31m" + "x" * 99, "[31m" + "x" * 57 + "…"),
        (FinishReason.OTHER, "", "other"),
    ],
)
async def test_the_result_and_the_record_say_why_the_model_stopped(
    tmp_path: Path, finish: FinishReason, raw: str, reason: str
) -> None:
    result, session_id = await run(tmp_path, Script(BROKEN), said("Done.", finish, raw))

    state = (await FileStore(tmp_path).load(session_id)).state
    attempts = [fact.payload for fact in state.history if isinstance(fact.payload, ModelAttempt)]
    assert [attempt.finish_reason for attempt in attempts] == ["", "", "", reason]
    assert result.finish_reason == reason


async def test_a_run_without_an_answer_has_no_reason(tmp_path: Path) -> None:
    result, _ = await run(tmp_path)

    assert (result.text, result.finish_reason) == ("", "")


@pytest.mark.parametrize("show", [["show"], ["export"], ["export", "--format", "html"]])
async def test_a_transcript_says_that_an_answer_was_cut_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], show: list[str]
) -> None:
    await run(tmp_path, said("It all began", FinishReason.LENGTH))

    assert await anyio.to_thread.run_sync(main, ["sessions", *show, str(tmp_path)]) == 0

    assert "assistant, cut off" in capsys.readouterr().out
