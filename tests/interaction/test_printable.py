"""What foreign text may do to a terminal: nothing."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentslot.interaction.cli import printable
from agentslot.interaction.cli.printable import PrintableStream


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text\twith a tab\nand a line", "plain text\twith a tab\nand a line"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[1;1Hgone", "gone"),
        ("\x1b]0;new title\x07text", "text"),
        ("\x1b]52;c;c2VjcmV0\x1b\\text", "text"),  # writes the clipboard
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2;0;0;0\x1b\\picture", "picture"),
        ("\x1bc\x1b7reset", "reset"),
        ("bell\x07 back\x08space\rover", "bell backspaceover"),
        ("a\x9b31mb\x85c", "a31mbc"),  # C1 forms of the same
        ("abc\u202edcba", "abcdcba"),  # turns what follows around
        ("\x1b", ""),
        ("half \ud800 surrogate", "half  surrogate"),
        ("family 👨\u200d👩\u200d👧 stays", "family 👨\u200d👩\u200d👧 stays"),
        ("[31m is text", "[31m is text"),
    ],
)
def test_sequences_and_control_characters_are_cut_out(text: str, shown: str) -> None:
    assert printable(text) == shown


PIECES = st.lists(
    st.sampled_from(
        ["\x1b", "[", "]", "31m", "0;title", "\x07", "\\", "text", "\n", "P", "\x9b", "(", "B", "é"]
    ),
    max_size=12,
)


@given(PIECES, st.integers(1, 5))
@settings(max_examples=500)
@example(["\x1b", "\x1b", "\x1b", "31m"], 2)
def test_no_split_of_a_text_lets_a_control_character_through(pieces: list[str], size: int) -> None:
    text = "".join(pieces)
    stream = PrintableStream()
    shown = "".join(stream.feed(text[i : i + size]) for i in range(0, len(text), size))
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\x9b" not in shown
    assert shown + stream.rest() == printable(text)


def test_a_sequence_that_never_ends_does_not_hide_the_text_behind_it() -> None:
    stream = PrintableStream()
    shown = "".join(stream.feed(piece) for piece in ["\x1b]0;", *["x" * 1000] * 5, "visible"])
    assert shown == "]0;" + "x" * 5000 + "visible"
