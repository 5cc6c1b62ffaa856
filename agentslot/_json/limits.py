"""What a JSON document may be, and the error for one that is not."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agentslot._errors import AgentSlotError

JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_SHOWN = 64


@dataclass(frozen=True, slots=True)
class JsonLimits:
    """Bounds that are checked before, or while, a document takes memory."""

    max_bytes: int = 16 * 1024 * 1024
    """Length of the UTF-8 document in bytes."""
    max_depth: int = 64
    """Containers inside one another; `[[]]` has depth 2."""
    max_members: int = 1_000_000
    """Elements of one array, or members of one object."""
    max_nodes: int = 2_000_000
    """Values in the whole document. 16 MiB of `[],` would otherwise cost half a gigabyte."""


DEFAULT_LIMITS = JsonLimits()


class JsonError(AgentSlotError, ValueError):
    """A document that strict JSON refuses.

    Attributes:
        reason: What is wrong, without any of the document's content.
        path: Where, as a JSON path (`$.choices[0].delta`); member names are the document's own.
        offset: Position of the problem in bytes of the UTF-8 document, from 0.
    """

    def __init__(self, reason: str, path: str, offset: int) -> None:
        super().__init__(reason, path, offset)
        self.reason = reason
        self.path = path
        self.offset = offset

    def __str__(self) -> str:
        return f"invalid JSON at {self.path} (byte {self.offset}): {self.reason}"


def render_path(steps: Sequence[str | int]) -> str:
    """Write steps as a JSON path; long or unusual member names are quoted and cut."""
    return "$" + "".join(map(_render_step, steps))


def _render_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _NAME.fullmatch(step):
        return f".{step}"
    shown = step if len(step) <= _SHOWN else step[: _SHOWN - 1] + "…"
    return f"[{shown!a}]"
