"""Reading ranges of lines and replacing files."""

import os
import stat
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.tool import ToolFailedError
from agentslot.tool.files import FileRoot, TextRange, read_range, replace


def ranged(path: Path, offset: int = 1, limit: int = 2000, column: int = 1) -> TextRange:
    descriptor = os.open(path, os.O_RDONLY)
    return read_range(descriptor, offset=offset, limit=limit, column=column)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file.txt"


def test_a_range_counts_lines_as_an_editor_does(file: Path) -> None:
    file.write_bytes(b"one\ntwo\nthree\n")
    part = ranged(file, offset=2, limit=1)
    assert (part.text, part.first, part.count, part.total) == ("two\n", 2, 1, 3)
    assert part.cut_by == "lines"
    assert ranged(file).cut_by is None
    file.write_bytes(b"one\ntwo")
    assert ranged(file).total == 2


def test_only_line_feeds_end_lines(file: Path) -> None:
    file.write_text("a\u2028b\x0b\x0cc\x85\nd\n", encoding="utf-8")
    assert ranged(file).total == 2


def test_a_negative_offset_counts_from_the_end(file: Path) -> None:
    file.write_bytes(b"1\n2\n3\n4\n")
    part = ranged(file, offset=-2)
    assert (part.text, part.first) == ("3\n4\n", 3)
    assert ranged(file, offset=-9).first == 1


def test_an_offset_behind_the_end_says_how_many_lines_there_are(file: Path) -> None:
    file.write_bytes(b"1\n2\n")
    with pytest.raises(ToolFailedError, match="the file has 2 lines") as caught:
        ranged(file, offset=3)
    assert caught.value.code == "offset_out_of_range"


def test_an_empty_file_is_no_error(file: Path) -> None:
    file.write_bytes(b"")
    assert (ranged(file).text, ranged(file).total) == ("", 0)


def test_bytes_are_cut_at_whole_lines(file: Path) -> None:
    file.write_bytes((b"x" * 999 + b"\n") * 100)
    part = ranged(file)
    assert (part.count, part.cut_by) == (51, "bytes")
    assert ranged(file, offset=52).text.startswith("x" * 999)


def test_a_long_line_is_read_on_by_column_without_losing_a_character(file: Path) -> None:
    line = "aé€𝄞" * 30_000
    file.write_text(f"short\n{line}\nlast\n", encoding="utf-8")
    assert ranged(file).text == "short\n"
    read, column = "", 1
    while True:
        part = ranged(file, offset=2, limit=1, column=column)
        read += part.text
        if part.cut_by != "long_line":
            break
        column = part.next_column
    assert read == line + "\n"


def test_a_column_behind_the_line_is_refused(file: Path) -> None:
    file.write_bytes(b"abc\ndef\n")
    assert ranged(file, column=3).text == "c\ndef\n"
    with pytest.raises(ToolFailedError, match="shorter than column 9"):
        ranged(file, column=9)


def test_invalid_bytes_are_shown_as_replacement_characters(file: Path) -> None:
    file.write_bytes(b"caf\xe9\nend\xf0")
    assert ranged(file).text == "caf�\nend�"


def test_marks_and_carriage_returns_are_not_shown(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    part = ranged(file)
    assert (part.text, part.crlf) == ("a\nb\n", True)
    file.write_bytes("\ufeffa\nb\n".encode("utf-16-le"))
    assert ranged(file, offset=2).text == "b\n"


def test_a_binary_file_is_refused(file: Path) -> None:
    file.write_bytes(b"needle\x00\x01" * 50)
    with pytest.raises(ToolFailedError, match="binary"):
        ranged(file)


def test_the_end_of_a_huge_file_is_read_without_what_lies_before(file: Path) -> None:
    with file.open("wb") as sparse:
        sparse.write(b"first\n" + b"x" * 10_000)
        sparse.seek(1 << 32)
        sparse.write(b"\nlast but one\nlast\n")
    tracemalloc.start()
    part = ranged(file, offset=-2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert part.text == "last but one\nlast\n"
    assert part.first is None
    assert part.sha256 is None
    assert peak < 2_000_000


pieces = st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"long " * 9]), max_size=40).map(b"".join)


@given(content=pieces, offset=st.integers(-12, 12), limit=st.integers(1, 5))
def test_ranges_agree_with_splitting_the_whole_content(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, offset: int, limit: int
) -> None:
    file = tmp_path_factory.getbasetemp() / "range.txt"
    file.write_bytes(content)
    lines = content.decode().replace("\r\n", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    first = max(1, len(lines) + offset + 1) if offset < 0 else max(1, offset)
    if first > max(1, len(lines)):
        with pytest.raises(ToolFailedError):
            ranged(file, offset, limit)
        return
    part = ranged(file, offset, limit)
    assert part.text.removesuffix("\n").split("\n") == (lines[first - 1 :][:limit] or [""])
    assert (part.first, part.total) == (first, len(lines))


def test_a_replaced_file_keeps_its_mode_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("old")
    script.chmod(0o754)
    with FileRoot(tmp_path).locate("run.sh") as location:
        replace(location, b"new")
    assert script.read_bytes() == b"new"
    assert stat.S_IMODE(script.stat().st_mode) == 0o754
    assert list(tmp_path.iterdir()) == [script]


def test_a_failed_write_leaves_the_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(ToolFailedError, match="the disk is full"),
        FileRoot(tmp_path).locate("a.txt") as location,
    ):
        replace(location, b"new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_missing_folders_are_made_on_request_only(tmp_path: Path) -> None:
    root = FileRoot(tmp_path)
    with pytest.raises(ToolFailedError) as caught, root.locate("a/b/c.txt"):
        raise AssertionError
    assert caught.value.code == "not_found"
    with root.locate("a/b/c.txt", create_folders=True) as location:
        replace(location, b"x")
        assert location.path == "a/b/c.txt"
    assert (tmp_path / "a/b/c.txt").read_bytes() == b"x"
