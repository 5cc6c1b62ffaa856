"""The text that every match of a pattern holds."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentslot.tool.search.literal import required_text
from agentslot.tool.search.worker import Task


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("needle", "needle"),
        (r"def handle_\w+_77\b", "def handle_"),
        (r"\bfoo\(bar\)$", "foo(bar)"),
        ("colou?r_name", "r_name"),
        ("colours?", "colour"),
        ("abc+def", "abc"),
        ("(abcdef)?ghi", "ghi"),
        ("(?:abcdef)*ghi", "ghi"),
        ("[abcdef]ghi", "ghi"),
        (r"[]abc\]]ghi", "ghi"),
        ("foo|bar", None),
        ("(?i)foo", None),
        ("fooo{0}", None),
        (r"\d+", None),
        ("ab", None),
        ("äöü", None),
    ],
)
def test_the_longest_plain_text_outside_of_groups_counts(pattern: str, text: str | None) -> None:
    assert required_text(pattern) == text


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
    literal = required_text(pattern)
    task = Task(pattern, literal.lower() if literal and ignore else literal, ignore, 0, 1)
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert not task.is_hopeless(text.encode(encoding))


def test_a_letter_beyond_ascii_can_equal_one_within() -> None:
    task = Task("token", "token", True, 0, 1)
    assert not task.is_hopeless("TO\N{KELVIN SIGN}EN".encode())
    assert task.is_hopeless(b"tolkien")
