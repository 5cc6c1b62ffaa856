"""The edit engine on bytes: what it changes, what it leaves, and what it refuses."""

from itertools import pairwise

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from agentslot.tool import ToolFailedError
from agentslot.tool.files import Edit, edit_bytes
from tests.shared import shared


def refusal(content: bytes, *edits: Edit) -> ToolFailedError:
    with pytest.raises(ToolFailedError) as caught:
        edit_bytes(content, edits)
    return caught.value


def test_lf_text_matches_a_crlf_file_and_the_changed_lines_stay_crlf() -> None:
    content = shared("cases/F01/crlf.py").read_bytes()
    old = "def add(a, b):\n    return a + b"
    new = "def add(a, b, c):\n    return a + b + c"
    expected = content.replace(b"(a, b)", b"(a, b, c)").replace(b"a + b", b"a + b + c")
    assert edit_bytes(content, [Edit(old, new)]) == expected


def test_text_quoted_with_crlf_matches_too() -> None:
    assert edit_bytes(b"a\r\nb\r\n", [Edit("a\r\nb", "a\r\nB")]) == b"a\r\nB\r\n"
    assert edit_bytes(b"a\nb\n", [Edit("a\r\nb", "a\r\nB")]) == b"a\nB\n"


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("mixed.txt", "c", "C", b"a\r\nb\nC"),
        ("mixed2.txt", "alpha\nbeta", "alpha\nBETA", b"alpha\nBETA\r\ngamma\n"),
        ("mixed2.txt", "beta\ngamma", "beta\nGAMMA", b"alpha\nbeta\r\nGAMMA\n"),
    ],
)
def test_mixed_line_ends_change_only_where_named(
    name: str, old: str, new: str, expected: bytes
) -> None:
    content = shared(f"cases/F02/{name}").read_bytes()
    assert edit_bytes(content, [Edit(old, new)]) == expected


def test_a_line_added_above_does_not_shift_the_ends_of_the_lines_below() -> None:
    edit = Edit("one\ntwo\nthree", "zero\none\ntwo\nTHREE")
    assert edit_bytes(b"one\r\ntwo\nthree\r\n", [edit]) == b"zero\r\none\r\ntwo\nTHREE\r\n"


def test_lines_added_inside_one_line_take_the_end_of_that_line() -> None:
    assert edit_bytes(b"a\nb\r\nc\n", [Edit("b", "b\nnew")]) == b"a\nb\r\nnew\r\nc\n"
    assert edit_bytes(b"a\r\nb", [Edit("b", "b\nnew")]) == b"a\r\nb\r\nnew"


def test_a_byte_order_mark_does_not_hide_the_first_line_and_survives() -> None:
    content = shared("cases/F03/bom_crlf.cs").read_bytes()
    changed = edit_bytes(content, [Edit("using System;\nclass", "using System.IO;\nclass")])
    assert changed == content.replace(b"System;", b"System.IO;")


def test_utf_16_with_a_mark_is_edited_in_its_own_encoding() -> None:
    content = b"\xff\xfe" + "grün\r\nblau\r\n".encode("utf-16-le")
    changed = edit_bytes(content, [Edit("grün\nblau", "grün\nrot")])
    assert changed == b"\xff\xfe" + "grün\r\nrot\r\n".encode("utf-16-le")


def test_bytes_that_are_no_utf_8_stay_as_they_are() -> None:
    assert edit_bytes(b"caf\xe9\nred\n", [Edit("red", "blue")]) == b"caf\xe9\nblue\n"


@pytest.mark.parametrize("content", [b"abc", b""])
def test_empty_old_text_is_refused_at_once(content: bytes) -> None:
    error = refusal(content, Edit("", "X"))
    assert error.code == "old_empty"
    assert "write the whole file" in error.message


def test_an_edit_that_changes_nothing_is_refused() -> None:
    assert refusal(b"abc", Edit("b", "b")).code == "nothing_changed"


def test_the_new_text_is_literal() -> None:
    content = shared("cases/F05/log.js").read_bytes()
    new = 'log("$& $1 $$ \\1 \\g<0> ok");'
    assert edit_bytes(content, [Edit('log("done");', new)]) == new.encode() + b"\n"


def test_the_new_text_is_literal_after_a_match_by_typography() -> None:
    changed = edit_bytes("say “hi”\n".encode(), [Edit('say "hi"', r"\1 \g<0> $&")])
    assert changed == rb"\1 \g<0> $&" + b"\n"


def test_uniqueness_counts_the_text_itself_not_its_typography() -> None:
    content = '“q”\n"q"\n'.encode()
    assert edit_bytes(content, [Edit('"q"', "r")]) == "“q”\nr\n".encode()


def test_overlapping_edits_are_refused() -> None:
    error = refusal(b"abcd", Edit("ab", "X"), Edit("bc", "Y"))
    assert error.code == "edits_overlap"
    assert "edit 1 of 2 and edit 2 of 2" in error.message


def test_every_edit_sees_the_original_text() -> None:
    assert edit_bytes(b"abcd", [Edit("a", "b"), Edit("b", "c")]) == b"bccd"


def test_edits_may_touch_and_come_in_any_order() -> None:
    assert edit_bytes(b"abcd", [Edit("cd", "2"), Edit("ab", "1")]) == b"12"


def test_one_absent_text_refuses_the_whole_list_and_is_named() -> None:
    edits = [Edit("a", "1"), Edit("b", "2"), Edit("c", "3"), Edit("absent", "4")]
    error = refusal(b"abc", *edits)
    assert error.code == "old_not_found"
    assert error.message.startswith("edit 4 of 4:")


def test_overlapping_occurrences_count_as_two() -> None:
    error = refusal(b"aaa", Edit("aa", "b"))
    assert error.code == "old_not_unique"
    assert "2 times" in error.message
    assert refusal(b"a\r\na\r\na", Edit("a\na", "b")).code == "old_not_unique"


def test_counting_stops_early_in_a_hostile_file() -> None:
    # Comparing 100,000 bytes at each of 1.9 million places takes longer than any test may.
    assert "at least 100 times" in refusal(b"a" * 2_000_000, Edit("a" * 100_000, "b")).message


def test_a_line_is_found_although_its_typography_differs() -> None:
    content = "a\n“don’t” – stop… \nb\n".encode()
    changed = edit_bytes(content, [Edit('a\n"don\'t" - stop...', "a\ngo")])
    assert changed == b"a\ngo\nb\n"


def test_typography_of_lines_that_did_not_change_is_kept() -> None:
    content = "// “title”\r\nx = 1\r\n// it’s\r\n".encode()
    edit = Edit('// "title"\nx = 1\n// it\'s\n', '// "title"\nx = 2\n// it\'s\n')
    assert edit_bytes(content, [edit]) == content.replace(b"x = 1", b"x = 2")


def test_indentation_is_never_folded() -> None:
    assert refusal(b"if x:\n    go()\n", Edit("if x:\n  go()", "stop")).code == "old_not_found"
    assert refusal("\u00a0x = “1”\n".encode(), Edit(' x = "1"', "y")).code == "old_not_found"


def test_a_match_by_typography_must_be_unique() -> None:
    error = refusal("“q”\n„q”\n".encode(), Edit('"q"', "r"))
    assert error.code == "old_not_unique"


def test_a_list_that_typography_rescues_only_in_part_is_refused() -> None:
    error = refusal("“q”\nplain\n".encode(), Edit("plain", "p"), Edit('"q"', "r"))
    assert error.code == "old_not_found"


def test_blank_text_does_not_match_by_typography() -> None:
    assert refusal(b"a\n\nb\n", Edit(" \n ", "x")).code == "old_not_found"


def test_a_binary_file_is_refused() -> None:
    assert refusal(b"needle\x00\xff", Edit("needle", "x")).code == "not_text"


# A second, slow reading of the rules: text as a list of tokens in which a line end is one token.

alphabet = st.sampled_from(["a", "b", "\n", "\r\n", "\r", "é", " "])
texts = st.lists(alphabet, max_size=12).map("".join)


def tokens(text: str) -> list[str]:
    found: list[str] = []
    for character in text:
        if character == "\n" and found and found[-1] == "\r":
            found[-1] = "\r\n"
        else:
            found.append(character)
    return found


def plain(token: str) -> str:
    return "\n" if token == "\r\n" else token


def settled(text: str) -> str:
    """Text with LF ends; a lone CR that a line end was written behind has become a part of it."""
    while (lf := "".join(map(plain, tokens(text)))) != text:
        text = lf
    return text


def places(text: list[str], needle: list[str]) -> list[int]:
    return [
        start
        for start in range(len(text) - len(needle) + 1)
        if list(map(plain, text[start : start + len(needle)])) == list(map(plain, needle))
    ]


@given(content=texts, edits=st.lists(st.tuples(texts, texts), min_size=1, max_size=3))
def test_edits_agree_with_a_slow_reading_of_the_rules(
    content: str, edits: list[tuple[str, str]]
) -> None:
    source = tokens(content)
    needles = [tokens(old) for old, _ in edits]
    found = [places(source, needle) for needle in needles]
    spans = sorted((at[0], at[0] + len(n)) for at, n in zip(found, needles, strict=True) if at)
    # What is found nowhere as it stands may be found by typography, which this reading knows not.
    reasons = {
        "old_empty": any(not old for old, _ in edits),
        "old_not_found": not all(found),
        "old_not_unique": any(len(at) > 1 for at in found) or not any(found),
        "edits_overlap": any(a[1] > b[0] for a, b in pairwise(spans)) or not any(found),
        "nothing_changed": True,
    }
    try:
        changed = edit_bytes(content.encode(), [Edit(old, new) for old, new in edits]).decode()
    except ToolFailedError as error:
        event(error.code)
        if not reasons[error.code]:
            raise
        return
    if not any(found):
        return  # matched by typography: its own tests cover it
    assert all(len(at) == 1 for at in found)
    expected: list[str] = []
    position = 0
    for at, needle, (_, new) in sorted(
        (at[0], needle, edit) for at, needle, edit in zip(found, needles, edits, strict=True)
    ):
        expected += [*source[position:at], *tokens(new)]
        position = at + len(needle)
    expected += source[position:]
    assert settled(changed) == settled("".join(expected))


lines = st.lists(st.sampled_from(["one", "two", "three", "", "  four"]), min_size=1, max_size=8)
ends = st.lists(st.sampled_from(["\n", "\r\n"]), min_size=8, max_size=8)


@given(lines=lines, ends=ends, at=st.integers(0, 7))
def test_an_inserted_line_leaves_every_other_line_with_its_bytes(
    lines: list[str], ends: list[str], at: int
) -> None:
    present = [line + end for line, end in zip(lines, ends, strict=False)]
    wanted = [*lines[:at], "unique", *lines[at:]]
    old, new = "".join(f"{line}\n" for line in lines), "".join(f"{line}\n" for line in wanted)
    changed = edit_bytes("".join(present).encode(), [Edit(old, new)]).decode()
    kept = changed.splitlines(keepends=True)
    del kept[min(at, len(lines))]
    assert kept == present
