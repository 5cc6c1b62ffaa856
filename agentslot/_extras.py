"""Extras: parts of AgentSlot that need a library which is installed only on demand."""

from agentslot._errors import AgentSlotError


class MissingExtra(AgentSlotError):  # noqa: N818 - named after what is the matter, like its kin
    """A library that a component needs is not installed.

    Attributes:
        extra: the extra that brings it.
    """

    def __init__(self, component: str, extra: str) -> None:
        super().__init__(f"{component} needs the extra {extra!r}: pip install agentslot[{extra}]")
        self.extra = extra
