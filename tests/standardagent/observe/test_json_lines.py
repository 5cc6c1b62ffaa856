"""The file of observations: one JSON object a line, whatever happens to the disk."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentslot.session import ClassifiedError, RunStatus
from agentslot.standardagent import JsonLinesSinkModule
from agentslot.tool import function_tool
from tests.standardagent.agents import agent, answer, call, calls

FULL = Path("/dev/full")


@function_tool
async def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


def lines(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


async def test_every_line_is_an_object_of_a_type_and_a_record(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "observed.jsonl"
    script = [calls(call("add", a=2, b=2)), answer("4")]
    async with agent(script, tools=[add], modules=[JsonLinesSinkModule(path)]) as session:
        await session.send_and_wait("2 + 2?")
    written = lines(path)
    assert all(line.keys() == {"type", "record"} for line in written)
    kinds = [line["record"]["kind"] for line in written if line["type"] == "trace"]
    assert kinds[:3] == ["runtime.opened", "run.started", "model.attempt.started"]
    assert kinds[-2:] == ["run.completed", "runtime.closed"]
    ends = [each["record"] for each in written if each["record"].get("finish_reason")]
    assert [end["finish_reason"] for end in ends] == ["tool_use", "stop"]
    (decision,) = [line["record"] for line in written if line["type"] == "audit"]
    assert (decision["verdict"], decision["tool"]) == ("allow", "add")
    usage = [line["record"]["usage"]["total"] for line in written if line["type"] == "usage"]
    assert usage == [2, 2]
    metrics = [line["record"] for line in written if line["type"] == "metric"]
    assert metrics[-1] == {
        "name": "agent.run.total",
        "kind": "counter",
        "value": 1,
        "attributes": {"outcome": "completed"},
    }


async def test_the_next_start_appends(tmp_path: Path) -> None:
    path = tmp_path / "observed.jsonl"
    for _ in range(2):
        async with agent([answer("ok")], modules=[JsonLinesSinkModule(path)]) as session:
            await session.send_and_wait("go")
    opened = [line for line in lines(path) if line["record"].get("kind") == "runtime.opened"]
    assert len(opened) == 2


async def test_a_line_that_a_crash_cut_short_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "observed.jsonl"
    path.write_text('{"type": "trace", "rec', encoding="utf-8")
    async with agent([answer("ok")], modules=[JsonLinesSinkModule(path)]) as session:
        await session.send_and_wait("go")
    torn, *rest = path.read_text(encoding="utf-8").splitlines()
    assert torn == '{"type": "trace", "rec'
    assert json.loads(rest[0])["record"]["kind"] == "runtime.opened"


@pytest.mark.parametrize("name", [".", "file/in/a/file", "nul \0"])
async def test_a_path_that_cannot_be_opened_stops_the_start_and_names_the_module(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ClassifiedError, match="another file") as caught:
        async with agent([], modules=[JsonLinesSinkModule(tmp_path / name)]):
            pass
    assert (caught.value.kind, caught.value.code) == ("unavailable", "file_not_writable")
    assert str(tmp_path) in str(caught.value)
    assert "observe.json-lines" in "".join(caught.value.__notes__)


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
async def test_a_full_disk_disturbs_no_run_and_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with agent([answer("ok")], modules=[JsonLinesSinkModule(FULL)]) as session:
        result = await session.send_and_wait("go")
    assert result.status is RunStatus.COMPLETED
    assert caplog.text.count("observations cannot be written to /dev/full") == 1
