"""One thing that `agentslot doctor` looked at."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        status: `broken` if nothing works without it; `missing` if something else is used.
        detail: what was found, or what to do about it.
        instead: what there is without it.
    """

    subject: str
    status: Status
    detail: str
    instead: str = ""
