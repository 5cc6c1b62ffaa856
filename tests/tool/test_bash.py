"""The bash tool: what comes back, and that nothing is left behind."""

import json
import os
import resource
import signal
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import Process

from agentslot.session import ToolResult
from agentslot.tool import FunctionTool
from agentslot.tool.process import Outcome, RollingOutput, outcome_of, reduced_environment
from agentslot.tool.process.group import survives
from agentslot.tool.shell import Shell
from tests.tool.invoking import invoke, invoke_text, output

Bash = FunctionTool[..., object]


@pytest.fixture
async def bash(tmp_path: Path) -> AsyncIterator[Bash]:
    shell = Shell(tmp_path)
    yield shell.tool()
    await shell.aclose()


@pytest.fixture
def marked(tmp_path: Path) -> tuple[Bash, Callable[[], Awaitable[None]]]:
    """A shell whose processes carry a mark, and a function that waits until none is left."""
    mark = f"MARK={uuid.uuid4()}"
    shell = Shell(tmp_path, environment={**os.environ, "MARK": mark.removeprefix("MARK=")})

    def alive() -> list[int]:
        found: list[int] = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mark.encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
        return found

    async def all_ended() -> None:
        with anyio.fail_after(20):  # one that is killed may still wait for its disk
            while alive():
                await anyio.lowlevel.checkpoint()

    return shell.tool(), all_ended


async def test_output_of_both_streams_comes_in_order_with_the_exit_code(bash: Bash) -> None:
    result = await invoke(bash, command="echo one; echo two >&2; echo three; exit 3")
    assert output(result) == "one\ntwo\nthree\n[exit code 3]"
    assert output(await invoke(bash, command="true")) == "[exit code 0]"


async def test_a_command_starts_in_the_root_folder(bash: Bash, tmp_path: Path) -> None:
    await invoke(bash, command="echo here > file.txt")
    assert await anyio.Path(tmp_path / "file.txt").read_text() == "here\n"


async def test_a_signal_is_named_and_counted_into_the_exit_code(bash: Bash) -> None:
    result = await invoke(bash, command="kill -KILL $$")
    assert output(result) == "[ended by SIGKILL, exit code 137]"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("sleep 60 & echo done", "done"),
        ("(while :; do echo tick; sleep .05; done) & sleep .2; echo fg", "fg"),
        ("nohup python3 -m http.server 0 & sleep .3; echo up", "up"),
        ("echo flood; yes &", "flood"),
    ],
)
async def test_a_background_child_does_not_keep_the_command_from_returning(
    bash: Bash, command: str, shown: str
) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with anyio.fail_after(20):
        text = output(await invoke(bash, command=command))
    assert shown in text
    assert "[exit code 0]" in text
    assert len(os.listdir("/proc/self/fd")) == before


async def test_a_process_left_behind_is_named_and_ends_with_the_shell(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    text = output(await invoke(shell.tool(), command="sleep 60 & echo $$"))
    group = int(text.split("\n")[0])
    assert f"[still running in the background; to stop it: kill -- -{group}]" in text
    assert await survives(group)
    await shell.aclose()
    assert not await survives(group)


async def test_on_time_out_the_whole_group_ends_and_the_output_is_kept(
    marked: tuple[Bash, Callable[[], Awaitable[None]]],
) -> None:
    bash, all_ended = marked
    command = "bash -c 'trap \"\" TERM; (sleep 300); sleep 300' & echo partial; wait"
    with anyio.fail_after(20):
        result = await invoke(bash, command=command, timeout_seconds=2)
    assert result.error is not None
    assert result.error.code == "timeout"
    assert "within 2 seconds" in result.error.message
    assert output(result) == "partial\n[stopped: time limit reached]"
    await all_ended()


async def test_on_cancellation_the_whole_group_ends(
    marked: tuple[Bash, Callable[[], Awaitable[None]]], tmp_path: Path
) -> None:
    bash, all_ended = marked
    ready = tmp_path / "ready"
    command = f"bash -c 'trap \"\" TERM; (touch {ready}; sleep 300); sleep 300'"
    results: list[ToolResult] = []

    async def run() -> None:
        results.append(await invoke(bash, command=command))

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            while not ready.exists():
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
    assert results == []
    await all_ended()


async def test_a_cancellation_while_the_command_starts_ends_it(
    marked: tuple[Bash, Callable[[], Awaitable[None]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    bash, all_ended = marked
    open_process, started, go_on = anyio.open_process, anyio.Event(), anyio.Event()

    async def slowly(*arguments: Any, **options: Any) -> Process:  # passed on as they are
        process = await open_process(*arguments, **options)
        started.set()
        await go_on.wait()
        return process

    monkeypatch.setattr(anyio, "open_process", slowly)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(invoke, bash, command="sleep 300"))
            await started.wait()
            tasks.cancel_scope.cancel()
            go_on.set()
    await all_ended()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (r"printf '\xf0'", "�"),
        (r"printf 'caf\xe9\n'", "caf�"),
        (r"printf '\x1b[31mred\x1b[0m\r50%%\r100%%\n'", "100%"),
        (r"printf 'a\r\nb\x00\x07c\r'", "a\nbc"),
        (r"printf '\x1b]0;title\x07\x1b[2Kdone\x1b(B'", "done"),
        ("python3 -c \"print('ä€𝄞' * 3)\"", "ä€𝄞ä€𝄞ä€𝄞"),
    ],
)
async def test_any_bytes_become_text_that_is_safe_to_show(
    bash: Bash, command: str, expected: str
) -> None:
    assert output(await invoke(bash, command=command)) == f"{expected}\n[exit code 0]"


async def test_random_bytes_do_not_break_the_result(bash: Bash) -> None:
    text = output(await invoke(bash, command="head -c 4096 /dev/urandom"))
    assert text.endswith("[exit code 0]")
    assert not any(ord(c) < 32 and c not in "\n\t" for c in text)
    text.encode()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat", "[exit code 0]"),
        ("read x; echo got=$x", "got=\n[exit code 0]"),
        ("python3 -c 'input()' 2>/dev/null", "[exit code 1]"),
        ("test -t 0 || test -t 1 || echo no terminal", "no terminal\n[exit code 0]"),
        ("(: </dev/tty) 2>/dev/null || echo none", "none\n[exit code 0]"),
    ],
)
async def test_standard_input_is_empty_and_no_terminal_is_offered(
    bash: Bash, command: str, expected: str
) -> None:
    with anyio.fail_after(20):
        assert output(await invoke(bash, command=command)) == expected


async def test_a_full_error_stream_does_not_block_the_other(bash: Bash) -> None:
    command = "python3 -c \"import sys; sys.stderr.write('e'*10**6); print('out')\""
    text = output(await invoke(bash, command=command))
    assert text.startswith("eee")
    assert text.endswith("out\n[exit code 0]")


@pytest.mark.parametrize(
    ("command", "size"),
    [
        ("yes | head -c 200000000", 200_000_000),
        ("head -c 5000000 /dev/zero | tr '\\0' a", 5_000_000),
    ],
)
async def test_endless_output_is_capped_and_its_true_size_stated(
    bash: Bash, command: str, size: int
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text = output(await invoke(bash, command=command))
    assert f" of {size} bytes left out" in text
    assert len(text) < 52_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024


async def test_a_flood_is_stopped_in_time(bash: Bash) -> None:
    with anyio.fail_after(20):
        result = await invoke(bash, command="yes", timeout_seconds=2)
    assert "bytes left out" in output(result)


async def test_the_result_fits_although_escapes_double_it(bash: Bash) -> None:
    arguments = json.dumps({"command": """head -c 100000 /dev/zero | tr '\\0' '"'; echo end"""})
    result = await invoke_text(bash, arguments, max_bytes=5000)
    assert result.output is not None
    assert 3000 < len(result.output.encode()) <= 5000
    assert output(result).endswith("end\n[exit code 0]")


@pytest.mark.parametrize("limit", [0, -1, "soon"])
async def test_a_time_limit_must_be_positive(bash: Bash, limit: object) -> None:
    result = await invoke(bash, command="true", timeout_seconds=limit)
    assert result.error is not None
    assert result.error.code == "invalid_arguments"


async def test_a_missing_folder_is_a_failure(tmp_path: Path) -> None:
    result = await invoke(Shell(tmp_path / "absent").tool(), command="true")
    assert result.error is not None
    assert result.error.code == "execution_failed"


async def test_a_nul_in_the_command_is_refused(bash: Bash) -> None:
    result = await invoke(bash, command="echo a\0b")
    assert result.error is not None
    assert result.error.code == "invalid_arguments"


def test_secrets_do_not_reach_commands() -> None:
    environment = {
        "PATH": "/bin",
        "HOME": "/home/me",
        "AWS_REGION": "eu-west-1",
        "aws_profile": "x",
        "OPENAI_BASE_URL": "x",
        "github_token": "x",
        "MY_PASSWORD": "x",
        "Api_Key": "x",
        "MONKEY": "banana",
    }
    reduced = reduced_environment(environment)
    assert {name for name in environment if name in reduced} == {
        "PATH",
        "HOME",
        "AWS_REGION",
        "MONKEY",
    }
    assert reduced["GIT_TERMINAL_PROMPT"] == "0"


@pytest.mark.parametrize(
    ("returncode", "timed_out", "expected"),
    [
        (0, False, (Outcome.OK, 0, None)),
        (2, False, (Outcome.EXIT, 2, None)),
        (-signal.SIGSEGV, False, (Outcome.SIGNAL, 139, "SIGSEGV")),
        (-signal.SIGKILL, True, (Outcome.TIMEOUT, 137, "SIGKILL")),
        (0, True, (Outcome.TIMEOUT, 0, None)),
        (-40, False, (Outcome.SIGNAL, 168, "signal 40")),
    ],
)
def test_a_time_out_outranks_a_signal_and_a_signal_the_exit_code(
    returncode: int, timed_out: bool, expected: tuple[Outcome, int, str | None]
) -> None:
    assert outcome_of(returncode, timed_out=timed_out) == expected


def test_a_long_output_keeps_whole_lines_and_whole_characters() -> None:
    rolling = RollingOutput(100)
    for number in range(1000):
        rolling.write(f"line {number}\n".encode())
    assert rolling.text() == (
        "line 0\nline 1\n[… 8804 of 8890 bytes left out …]\n"
        + "".join(f"line {number}\n" for number in range(992, 1000))
    )
    rolling = RollingOutput(100)
    rolling.write("€".encode() * 1000)
    assert "�" not in rolling.text()
