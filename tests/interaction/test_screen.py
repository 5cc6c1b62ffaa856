"""The screen: answers verbatim, notes on lines of their own."""

import io
import sys

import pytest

from agentslot.interaction.cli import Screen
from tests.interaction.terminal import ShownText


def test_answers_and_notes_share_a_stream_line_by_line() -> None:
    stream = ShownText()
    screen = Screen(stream)
    screen.answer("half a ")
    screen.answer("line")
    screen.note("→ bash ls")
    screen.answer("whole\n")
    screen.end_answer()
    screen.prompt("> ")
    assert stream.getvalue() == "half a line\n→ bash ls\nwhole\n> "


def test_notes_on_a_stream_of_their_own_do_not_break_the_answer() -> None:
    answers, notes = ShownText(), ShownText()
    screen = Screen(answers, notes)
    screen.answer("half a ")
    screen.note("→ bash ls")
    screen.answer("line")
    screen.end_answer()
    assert (answers.getvalue(), notes.getvalue()) == ("half a line\n", "→ bash ls\n")


def test_an_answer_into_a_file_is_verbatim_and_on_a_terminal_harmless() -> None:
    file, terminal = ShownText(), ShownText(terminal=True)
    for stream in (file, terminal):
        Screen(stream).answer("\x1b[31mred\x1b[0m [bold]x[/bold]")
    assert file.getvalue() == "\x1b[31mred\x1b[0m [bold]x[/bold]"
    assert terminal.getvalue() == "red [bold]x[/bold]"


def test_a_sequence_in_two_pieces_is_cut_out_too() -> None:
    terminal = ShownText(terminal=True)
    screen = Screen(terminal)
    screen.answer("a\x1b]0;ti")
    screen.answer("tle\x07b")
    assert terminal.getvalue() == "ab"


def test_notes_on_a_terminal_are_coloured_and_their_text_stays_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("rich")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal = ShownText(terminal=True)
    Screen(terminal).note("[red]:smile: 1234\x1b[2J", "cyan")
    assert terminal.getvalue() == "\x1b[36m[red]:smile: 1234\x1b[0m\n"


def test_without_rich_a_terminal_gets_plain_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    terminal = ShownText(terminal=True)
    Screen(terminal).note("done", "green")
    assert terminal.getvalue() == "done\n"


def test_half_a_surrogate_can_be_written_anywhere() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    screen = Screen(stream)
    screen.answer("a\ud800b")
    screen.note("c\ud800d")
    stream.seek(0)
    assert stream.read() == "a?b\ncd\n"
