"""Programs without a shell, processes in the background, and output too long to show."""

import json
import re
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import anyio
import pytest

from agentslot import Application, InvalidModule, Module
from agentslot.session import SessionId, ToolResult
from agentslot.tool import TOOLS, BashModule, ShellModule, Tool
from agentslot.tool.process.group import survives
from agentslot.tool.shell import Shell
from tests.tool.invoking import invocation, invoke, invoke_text, output

Tools = dict[str, Tool]


@pytest.fixture
async def tools(tmp_path: Path) -> AsyncIterator[Tools]:
    async with Application("shell", [ShellModule(tmp_path)]).start() as runtime:
        yield dict(runtime.assembly[TOOLS])


def code(result: ToolResult) -> str:
    assert result.error is not None, result.output
    return result.error.code


async def test_a_program_gets_its_arguments_as_they_are(tools: Tools) -> None:
    result = await invoke(tools["run_command"], argv=["printf", "%s|", "$HOME", "a b", "*", ""])
    assert output(result) == "$HOME|a b|*||\n[exit code 0]"


async def test_a_program_with_a_slash_lies_below_the_root(tools: Tools, tmp_path: Path) -> None:
    await invoke(tools["bash"], command="mkdir bin; echo 'echo mine' > bin/x; chmod +x bin/x")
    await invoke(tools["bash"], command="sed -i 1i#!/bin/sh bin/x")
    assert output(await invoke(tools["run_command"], argv=["bin/x"])) == "mine\n[exit code 0]"


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["no-such-program-here"], "execution_failed"),
        (["echo", "a\0b"], "invalid_arguments"),
        ([], "invalid_arguments"),
        ("echo hello", "invalid_arguments"),
    ],
)
async def test_what_cannot_be_run_says_why(tools: Tools, argv: object, expected: str) -> None:
    assert code(await invoke(tools["run_command"], argv=argv)) == expected


async def test_powershell_is_offered_everywhere_and_says_if_it_is_missing(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(name: str) -> None:
        """Nothing is installed."""

    monkeypatch.setattr(shutil, "which", nowhere)
    result = await invoke(tools["powershell"], command="Get-Date")
    assert result.error is not None
    assert result.error.message == "PowerShell is not installed here; use bash"


async def test_powershell_runs_a_command_line(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(name: str) -> str | None:
        return "/bin/echo" if name == "pwsh" else None

    monkeypatch.setattr(shutil, "which", find)
    text = output(await invoke(tools["powershell"], command="Get-Date"))
    assert text == "-NoLogo -NoProfile -NonInteractive -Command Get-Date\n[exit code 0]"


async def test_a_process_in_the_background_is_listed_read_and_stopped(tools: Tools) -> None:
    command = "printf \"$$\\nready\\n\"; trap 'exit 0' TERM; while :; do sleep 0.05; done"
    started = await invoke(tools["bash"], command=command, background=True)
    assert output(started).startswith("[process 1 started; ")
    read = output(await invoke(tools["process_read"], process=1, start=0, wait_seconds=10))
    assert re.search(r"\[process 1 running; bytes 0 to \d+ of \d+; continue with start=\d+\]", read)
    assert output(await invoke(tools["process_list"])).startswith("1: running, ")
    group = int(read.split("\n")[0])
    assert await survives(group)
    assert output(await invoke(tools["process_stop"], process=1)) == "process 1 stopped"
    assert not await survives(group)
    assert output(await invoke(tools["process_list"])).startswith("1: stopped, ")


async def test_the_end_of_a_process_can_be_waited_for(tools: Tools) -> None:
    await invoke(tools["run_command"], argv=["sh", "-c", "sleep 0.2; exit 3"], background=True)
    text = output(await invoke(tools["process_read"], process=1, start=0, wait_seconds=30))
    assert text == "[process 1 ended with exit code 3; bytes 0 to 0 of 0]"


async def test_a_background_program_that_is_not_there_is_a_failure(tools: Tools) -> None:
    result = await invoke(tools["run_command"], argv=["no-such-program"], background=True)
    assert code(result) == "execution_failed"
    assert output(await invoke(tools["process_list"])) == "[0 in all]"


async def test_another_session_neither_sees_nor_stops_a_process(tools: Tools) -> None:
    await invoke(tools["bash"], command="sleep 60", background=True)
    call = invocation("process_stop", '{"process": 1}')
    other = type(call)(call.call, SessionId("other"), call.agent, call.workspace)
    assert code(await tools["process_stop"].invoke(other)) == "not_found"
    call = invocation("process_list", "{}")
    other = type(call)(call.call, SessionId("other"), call.agent, call.workspace)
    assert output(await tools["process_list"].invoke(other)) == "[0 in all]"


async def test_too_many_processes_are_refused(tools: Tools) -> None:
    for _ in range(16):
        assert (await invoke(tools["bash"], command="sleep 60", background=True)).error is None
    result = await invoke(tools["bash"], command="sleep 60", background=True)
    assert code(result) == "too_many_processes"


async def test_processes_end_with_the_application(tmp_path: Path) -> None:
    async with Application("shell", [ShellModule(tmp_path)]).start() as runtime:
        tools = runtime.assembly[TOOLS]
        await invoke(tools["bash"], command="echo $$; exec sleep 60", background=True)
        text = output(await invoke(tools["process_read"], process=1, start=0, wait_seconds=10))
        group = int(text.split("\n")[0])
        assert await survives(group)
    assert not await survives(group)


@pytest.mark.parametrize("make", [BashModule, ShellModule])
async def test_two_started_applications_cannot_share_commands(
    tmp_path: Path, make: Callable[[Path], Module]
) -> None:
    module = make(tmp_path)

    async with Application("first", [module]).start() as first:
        with pytest.raises(InvalidModule, match="another application that is started") as caught:
            async with Application("second", [module]).start():
                raise AssertionError("started")
        assert f"make a {make.__name__} for each application" in str(caught.value)
        assert "[exit code 0]" in output(
            await invoke(first.assembly[TOOLS]["bash"], command="true")
        )
    async with Application("third", [module]).start():
        """After the end of the first one it is free."""


async def test_outside_of_an_application_nothing_runs_in_the_background(tmp_path: Path) -> None:
    bash = Shell(tmp_path).tools()[0]
    result = await invoke(bash, command="sleep 60", background=True)
    assert code(result) == "background_unavailable"


async def read_all(tools: Tools, process: int, start: int) -> str:
    """Follow the exact next call that each result names."""
    shown = ""
    while True:
        text = output(await invoke(tools["process_read"], process=process, start=start))
        body, _, note = text.rpartition("\n[")
        shown += body + "\n"
        following = re.search(r"continue with start=(\d+)", note)
        if following is None:
            return shown
        start = int(following[1])


async def test_what_is_left_out_of_a_long_output_can_be_read_by_the_call_that_is_named(
    tools: Tools,
) -> None:
    text = output(await invoke(tools["bash"], command="seq 1 100000"))
    named = re.search(r"process_read: process=(\d+), start=(\d+)", text)
    assert named is not None
    head = text[: text.index("[…")]
    rest = await read_all(tools, int(named[1]), int(named[2]))
    assert head + rest == "".join(f"{n}\n" for n in range(1, 100_001))


async def test_a_shell_alone_names_a_command_that_shows_what_was_left_out(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    bash = shell.tool()
    text = output(await invoke(bash, command="seq 1 100000"))
    named = re.search(r"read on with: (tail -c \+\d+ (\S+) \| head -c \d+) …\]", text)
    assert named is not None
    head = text[: text.index("[…")]
    more = output(await invoke(bash, command=named[1]))
    assert (head + more).startswith("".join(f"{n}\n" for n in range(1, 8000)))
    await shell.aclose()
    assert not await anyio.Path(named[2]).exists()


async def test_output_that_fits_leaves_no_process_behind(tools: Tools) -> None:
    await invoke(tools["bash"], command="seq 1 100")
    assert output(await invoke(tools["process_list"])) == "[0 in all]"


async def test_a_budget_smaller_than_the_output_still_names_how_to_read_on(tools: Tools) -> None:
    arguments = json.dumps({"command": "seq 1 5000"})
    text = output(await invoke_text(tools["bash"], arguments, max_bytes=3000))
    named = re.search(r"process_read: process=(\d+), start=(\d+)", text)
    assert named is not None
    rest = await read_all(tools, int(named[1]), int(named[2]))
    assert rest.endswith("5000\n")


async def test_a_flood_keeps_the_disk_bounded_and_counts_what_is_lost(tools: Tools) -> None:
    size = 80 * 1024 * 1024
    text = output(await invoke(tools["bash"], command=f"head -c {size} /dev/zero"))
    assert f"of {size} bytes left out" in text
    last = output(await invoke(tools["process_read"], process=1, start=64 * 1024 * 1024))
    assert last.startswith(
        f"[process 1 ended with exit code 0; bytes 67108864 to 67108864 of {size}"
    )


async def test_output_that_cannot_be_kept_ends_neither_a_command_nor_the_application(
    tools: Tools, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))  # as if the disk were full
    write = "seq 100000; touch done"

    text = output(await invoke(tools["bash"], command=write))
    await invoke(tools["bash"], command=f"rm done; {write}", background=True)
    listed = await invoke(tools["process_read"], process=2, wait_seconds=60, start=588895)

    assert "[exit code 0]" in text
    assert "ended with exit code 0; bytes 588895 to 588895 of 588895" in output(listed)
    assert (tmp_path / "done").exists()


async def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    async with Application("shell", [ShellModule(folder)]).start() as runtime:
        tools = runtime.assembly[TOOLS]
        await invoke(tools["bash"], command=f"rm -r {folder}")
        result = await invoke(tools["bash"], command="pwd")
    assert result.error is not None
    assert f"the folder '{folder}', where commands start, cannot be used" in result.error.message


async def test_commands_that_write_much_at_once_keep_their_output_in_one_folder(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one comes while the folder is being made for the first, if anything lets it."""
    make, second, made = tempfile.TemporaryDirectory, threading.Event(), list[str]()

    def slowly(*, prefix: str) -> object:
        made.append(prefix)
        if len(made) == 1:
            second.wait(0.2)
        else:
            second.set()
        return make(prefix=prefix)

    monkeypatch.setattr(tempfile, "TemporaryDirectory", slowly)
    long = "head -c 100000 /dev/zero | tr '\\0' x"
    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(partial(invoke, tools["bash"], command=long))
    assert len(made) == 1
    for process in (1, 2):
        assert output(await invoke(tools["process_read"], process=process, start=0))[:3] == "xxx"
