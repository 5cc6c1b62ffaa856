"""Which tools a hook is asked about: all, or a fixed few."""

from dataclasses import dataclass

from agentslot.session import ToolStatus, is_identity

MAX_SCOPE_KEYS = 64


@dataclass(frozen=True, slots=True)
class ToolScope:
    """All tools, or 1 to 64 tools by their keys.

    Attributes:
        keys: the tools; None for all.
    """

    keys: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _check_keys(self.keys)

    def covers(self, tool: str) -> bool:
        """Whether the hook is asked about that tool."""
        return self.keys is None or tool in self.keys


@dataclass(frozen=True, slots=True)
class ToolResultScope:
    """Results of all tools, or of 1 to 64 tools by their keys, that ended in one of these ways."""

    keys: tuple[str, ...] | None = None
    statuses: tuple[ToolStatus, ...] = (ToolStatus.SUCCEEDED, ToolStatus.FAILED)

    def __post_init__(self) -> None:
        _check_keys(self.keys)
        known = {ToolStatus.SUCCEEDED, ToolStatus.FAILED}
        if not self.statuses or not known.issuperset(self.statuses):
            msg = f"a scope names results that succeeded or failed, not {self.statuses!r}"
            raise ValueError(msg)

    def covers(self, tool: str, status: ToolStatus) -> bool:
        """Whether the hook is asked about such a result of that tool."""
        return status in self.statuses and (self.keys is None or tool in self.keys)


def _check_keys(keys: tuple[str, ...] | None) -> None:
    if keys is None:
        return
    # A bare text is iterable too, and would silently name tools of one letter each.
    if not isinstance(keys, tuple):  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = f"a scope is a tuple of tool keys, or None for all tools, not {keys!r}"
        raise TypeError(msg)
    if not 1 <= len(set(keys)) == len(keys) <= MAX_SCOPE_KEYS or not all(map(is_identity, keys)):
        msg = f"a scope names 1 to {MAX_SCOPE_KEYS} tools by their keys, each once, not {keys!r}"
        raise ValueError(msg)
