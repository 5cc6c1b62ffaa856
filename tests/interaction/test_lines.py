"""Lines from a descriptor: pipes, terminals, files, nothing."""

import os
import pty
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from agentslot.interaction import LineTooLong
from agentslot.interaction.cli import DescriptorLines


@pytest.fixture
def pipe() -> Generator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    os.close(read)
    with suppress(OSError):  # the test may have closed it
        os.close(write)


async def read_all(lines: DescriptorLines) -> list[str]:
    return [line async for line in lines]


async def test_a_pipe_yields_its_lines_and_the_unfinished_last_one(pipe: tuple[int, int]) -> None:
    read, write = pipe
    os.write(write, "one\r\n\nzwei äöü\nlast".encode())
    os.close(write)
    lines = DescriptorLines(read)
    assert not lines.interactive
    assert await read_all(lines) == ["one", "", "zwei äöü", "last"]


async def test_a_line_is_there_as_soon_as_it_is_written(pipe: tuple[int, int]) -> None:
    read, write = pipe
    lines = DescriptorLines(read)
    os.write(write, b"one\ntw")
    assert await anext(lines) == "one"
    os.write(write, b"o\n")
    assert await anext(lines) == "two"


async def test_waiting_for_a_line_can_be_given_up_and_taken_up(pipe: tuple[int, int]) -> None:
    read, write = pipe
    lines = DescriptorLines(read)
    os.write(write, b"begun ")
    with anyio.move_on_after(0.01):
        await anext(lines)
    os.write(write, b"and ended\n")
    assert await anext(lines) == "begun and ended"


async def test_a_line_that_is_too_long_is_dropped_and_the_next_one_read(
    pipe: tuple[int, int],
) -> None:
    read, write = pipe
    lines = DescriptorLines(read, max_line_bytes=10)
    os.write(write, b"x" * 11 + b"\nshort\n" + b"y" * 100)
    with pytest.raises(LineTooLong, match="more than 10 bytes"):
        await anext(lines)
    assert await anext(lines) == "short"
    os.write(write, b"y" * 100 + b"\nagain\n")
    with pytest.raises(LineTooLong):
        await anext(lines)
    assert await anext(lines) == "again"


async def test_bytes_that_are_no_text_do_not_end_the_conversation(pipe: tuple[int, int]) -> None:
    read, write = pipe
    os.write(write, b"caf\xe9\n")
    assert await anext(DescriptorLines(read)) == "caf\ufffd"


async def test_files_and_nothing_at_all_are_read_as_well(tmp_path: Path) -> None:
    (tmp_path / "input").write_text("one\ntwo\n")
    for path, expected in ((tmp_path / "input", ["one", "two"]), (Path(os.devnull), [])):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            assert await read_all(DescriptorLines(descriptor)) == expected
        finally:
            os.close(descriptor)


async def test_what_was_typed_before_a_question_does_not_answer_it() -> None:
    terminal, person = pty.openpty()
    try:
        lines = DescriptorLines(person)
        assert lines.interactive
        os.write(terminal, b"one\ny\nhalf a li")
        assert await anext(lines) == "one"
        lines.discard_typed_ahead()
        os.write(terminal, b"no\n")
        assert await anext(lines) == "no"
    finally:
        os.close(terminal)
        os.close(person)
