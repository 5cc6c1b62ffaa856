"""Descriptions of parameters from the usual docstring styles."""

import pytest

from agentslot.tool.docstring import parse_docstring

GOOGLE = """Look up a word.

Longer text.

Args:
    word (str): the word
        to look up.
    *others: more of them.

    limit: most results: at most ten.
Returns:
    The meaning.
"""

NUMPY = """Look up a word.

Longer text.

Parameters
----------
word : str
    the word
    to look up.
others
    more of them.
limit : int, optional
    most results: at most ten.

Returns
-------
str
    The meaning.
"""

SPHINX = """Look up a word.

Longer text.

:param word: the word
    to look up.
:type word: str
:param others: more of them.
:param int limit: most results: at most ten.
:returns: The meaning.
:raises KeyError: never.
"""


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, SPHINX])
def test_text_and_parameters_are_told_apart(docstring: str) -> None:
    parsed = parse_docstring(docstring)
    assert parsed.text == "Look up a word.\n\nLonger text."
    assert parsed.parameters == {
        "word": "the word to look up.",
        "others": "more of them.",
        "limit": "most results: at most ten.",
    }


def test_text_after_a_section_belongs_to_the_text() -> None:
    parsed = parse_docstring("First.\n\nArgs:\n    a: one.\n\nLast.")
    assert parsed.text == "First.\n\nLast."


def test_numpy_parameters_may_share_a_description() -> None:
    parsed = parse_docstring("Do.\n\nParameters\n----------\na, b : int\n    numbers.\n")
    assert parsed.parameters == {"a": "numbers.", "b": "numbers."}


@pytest.mark.parametrize("docstring", [None, "", "   \n"])
def test_no_docstring_is_no_text(docstring: str | None) -> None:
    assert parse_docstring(docstring).text == ""


def test_a_colon_in_prose_is_no_section() -> None:
    text = "Note: this is prose.\nExample usage: call it."
    assert parse_docstring(text).text == text
