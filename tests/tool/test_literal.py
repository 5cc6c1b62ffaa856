"""The texts that every match of a pattern holds."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentslot.tool.search.literal import required_texts
from agentslot.tool.search.worker import Task


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("needle", ["needle"]),
        (r"def handle_\w+_77\b", ["def handle_", "_77"]),
        (r"\bfoo\(bar\)$", ["foo(bar)"]),
        ("colou?r_name", ["colo", "r_name"]),
        ("colours?", ["colour"]),
        ("abc+def", ["abc", "def"]),
        ("(abcdef)?ghi", ["ghi"]),
        ("(?:abcdef)*ghi", ["ghi"]),
        ("[abcdef]ghi", ["ghi"]),
        (r"[]abc\]]ghi", ["ghi"]),
        ("foo|bar", []),
        ("(foo|bar)_name", ["_name"]),
        ("foo[|]bar", ["foo", "bar"]),
        ("(?i)foo", []),
        ("fooo{0}", []),
        (r"\d+", []),
        ("ab", []),
        ("äöü", []),
    ],
)
def test_plain_texts_outside_of_groups_count(pattern: str, texts: list[str]) -> None:
    assert required_texts(pattern) == texts


pieces = st.sampled_from(
    ["a", "b", "k", "_", " ", ".", "*", "+", "?", "(", "(?:", ")", "|", "[ab]", "[^a]", "\\", r"\.",
     r"\w", "{2}", "abc", "^", "$", "]", "K", "ſ", "\N{KELVIN SIGN}"]
)  # fmt: skip


@given(
    st.lists(pieces, min_size=1, max_size=8).map("".join),
    st.lists(pieces, max_size=12).map("".join),
    st.booleans(),
)
def test_no_file_with_a_match_counts_as_hopeless(pattern: str, text: str, ignore: bool) -> None:
    try:
        found = re.search(pattern, text, re.IGNORECASE if ignore else 0)
    except re.error:
        return
    assume(found is not None)
    task = Task(pattern, required_texts(pattern), ignore, 0, 1)
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert not task.is_hopeless(text.encode(encoding))


def test_a_letter_beyond_ascii_can_equal_one_within() -> None:
    task = Task("token", ["token"], True, 0, 1)
    assert not task.is_hopeless("TO\N{KELVIN SIGN}EN".encode())
    assert task.is_hopeless(b"tolkien")
