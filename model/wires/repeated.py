"""Events that say the same as the one before them, but for a piece of text.

Many vendors send each piece of an answer in the same envelope. Whoever has read it once need not
read it again: a string of a JSON document can be exchanged for any other.
"""

from collections.abc import Callable

_PATIENCE = 4
"""So many envelopes are remembered in vain: a vendor that numbers its events never repeats one."""


class Envelope:
    """What stands around the text of the last event, until another one must be read."""

    def __init__(self) -> None:
        self._before = self._after = b""
        self._name = ""
        self._show: Callable[[str], None] | None = None
        self._patience = _PATIENCE

    @property
    def wanted(self) -> bool:
        """Whether it is worth while to remember one."""
        return self._patience > 0

    def remember(self, data: bytes, name: str, text: str, show: Callable[[str], None]) -> None:
        """An event was read that does nothing but show a text.

        Args:
            data: a JSON document, in which `text` is the value of a member.
            name: name of the event.
            text: what it shows.
            show: does for another text what the event did for this one.
        """
        spelled = f'"{text}"'.encode()
        at = data.find(spelled)
        # Without escapes the text stands there as it is; so if it is found once, it is the value.
        if at == data.rfind(spelled) and data.find(b"\\") < 0:
            self._before, self._after = data[: at + 1], data[at + len(spelled) - 1 :]
            self._name, self._show = name, show
            self._patience -= 1

    def takes(self, data: bytes, name: str) -> bool:
        """Show the text of an event that differs in nothing else; any other one must be read.

        Raises:
            ModelError: what the event would have raised.
        """
        show, self._show = self._show, None
        if show is None or name != self._name:
            return False
        if not (data.startswith(self._before) and data.endswith(self._after)):
            return False
        text = _plain(data[len(self._before) : len(data) - len(self._after)])
        if not text:
            return False
        show(text)
        self._show = show
        self._patience = _PATIENCE
        return True


def _plain(spelled: bytes) -> str:
    """The text of a JSON string that stands there as it is; empty if it does not."""
    if spelled.find(b'"') >= 0 or spelled.find(b"\\") >= 0:
        return ""
    try:
        text = spelled.decode()
    except UnicodeDecodeError:
        return ""
    return text if text.isprintable() else ""
