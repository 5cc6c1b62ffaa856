"""Extras: parts of AgentSlot that need a library which is installed only on demand."""

from importlib.util import find_spec

from agentslot._errors import AgentSlotError


class MissingExtra(AgentSlotError):  # noqa: N818 - named after what is the matter, like its kin
    """A library that a component needs is not installed.

    Attributes:
        extra: the extra that brings it.
    """

    def __init__(self, component: str, extra: str) -> None:
        super().__init__(f"{component} needs the extra {extra!r}: pip install agentslot[{extra}]")
        self.extra = extra


def require_extra(component: str, extra: str, package: str) -> None:
    """Make sure, without importing it, that a package is there before it is needed.

    Raises:
        MissingExtra: it is not.
    """
    if find_spec(package) is None:
        raise MissingExtra(component, extra)
