"""The visible parts of an answer, in the order in which they appeared."""

from agentslot.session import Part, ReasoningPart, TextPart


class PartsBuilder:
    """Joins pieces of one kind; another kind, or a tool call between them, begins a new part."""

    def __init__(self) -> None:
        self._parts: list[tuple[type[TextPart] | type[ReasoningPart], list[str]]] = []
        self._open: type[TextPart] | type[ReasoningPart] | None = None
        self._pieces: list[str] = []

    def add(self, kind: type[TextPart] | type[ReasoningPart], piece: str) -> None:
        """Add visible text or visible thinking."""
        if kind is not self._open:
            self._open, self._pieces = kind, []
            self._parts.append((kind, self._pieces))
        self._pieces.append(piece)

    def close(self) -> None:
        """End the current part: what follows is a new one."""
        self._open = None

    @property
    def text(self) -> str:
        """All text parts, joined."""
        return "".join(
            piece for kind, pieces in self._parts if kind is TextPart for piece in pieces
        )

    def build(self) -> tuple[Part, ...]:
        """The parts so far."""
        return tuple(kind("".join(pieces)) for kind, pieces in self._parts)
