"""The visible parts of an answer, in the order in which they appeared."""

from agentslot.session import Part, ReasoningPart, TextPart


class PartsBuilder:
    """Joins pieces of one kind; another kind, or a tool call between them, begins a new part."""

    def __init__(self) -> None:
        self._parts: list[tuple[type[TextPart] | type[ReasoningPart], list[str]]] = []
        self._open = False

    def add_text(self, text: str) -> None:
        """Add visible text."""
        self._add(TextPart, text)

    def add_reasoning(self, text: str) -> None:
        """Add visible thinking."""
        self._add(ReasoningPart, text)

    def close(self) -> None:
        """End the current part: what follows is a new one."""
        self._open = False

    @property
    def text(self) -> str:
        """All text parts, joined."""
        return "".join(
            piece for kind, pieces in self._parts if kind is TextPart for piece in pieces
        )

    def build(self) -> tuple[Part, ...]:
        """The parts so far."""
        return tuple(kind("".join(pieces)) for kind, pieces in self._parts)

    def _add(self, kind: type[TextPart] | type[ReasoningPart], piece: str) -> None:
        if self._open and self._parts[-1][0] is kind:
            self._parts[-1][1].append(piece)
        else:
            self._parts.append((kind, [piece]))
            self._open = True
