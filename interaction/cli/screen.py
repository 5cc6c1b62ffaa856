"""Where a conversation is shown: the answer on one stream, everything about it on another."""

from typing import TYPE_CHECKING, Literal, TextIO

from agentslot.interaction.cli.printable import PrintableStream, printable

if TYPE_CHECKING:
    from rich.console import Console

Style = Literal["", "bold", "dim", "cyan", "green", "yellow", "red"]


class Screen:
    """Two text streams, which may be one terminal.

    Writes are small and go to a terminal, a pipe or a file; they are made on the event loop. A
    reader that stops reading therefore holds up the agent as well, which is what one wants of a
    pager.

    Args:
        answers: takes the assistant's text, verbatim unless it is a terminal.
        notes: takes activity, questions and errors, one line each. Coloured if it is a terminal
            and rich is installed.
    """

    def __init__(self, answers: TextIO, notes: TextIO | None = None) -> None:
        self._answers = answers
        self._notes = answers if notes is None else notes
        self._terminal = answers.isatty()
        self._shared = answers is self._notes or (self._terminal and self._notes.isatty())
        self._console = _console(self._notes)
        self._filter = PrintableStream()
        self._line_open = False

    def answer(self, text: str) -> None:
        """Write more of the assistant's text."""
        self._write_answer(self._filter.feed(text) if self._terminal else _encodable(text))

    def end_answer(self) -> None:
        """What follows begins on a line of its own."""
        self._write_answer(self._filter.rest())
        if self._line_open:
            self._write_answer("\n")

    def note(self, text: str, style: Style = "") -> None:
        """Write a line about the conversation."""
        if self._shared:
            self.end_answer()
        self._write_note(f"{printable(text)}\n", style)

    def prompt(self, text: str) -> None:
        """Write `text` and leave the cursor behind it."""
        if self._shared:
            self.end_answer()
        self._write_note(text, "bold")

    def _write_answer(self, text: str) -> None:
        if text:
            self._answers.write(text)
            self._answers.flush()
            self._line_open = not text.endswith("\n")

    def _write_note(self, text: str, style: Style) -> None:
        if self._console is None:
            self._notes.write(text)
        else:
            from rich.text import Text  # an extra; where there is a console, it is installed

            self._console.print(Text(text, style), soft_wrap=True, end="")
        self._notes.flush()


def _encodable(text: str) -> str:
    """Half surrogates can be written nowhere."""
    return text.encode(errors="replace").decode()


def _console(stream: TextIO) -> "Console | None":
    if not stream.isatty():
        return None
    try:
        from rich.console import Console  # an extra: without it the notes are plain
    except ImportError:
        return None
    return Console(file=stream, markup=False, highlight=False, emoji=False)
