"""How a check of a conformance suite fails, the same in the suites of every contract."""

from agentslot._errors import AgentSlotError


class ConformanceFailure(AgentSlotError):  # noqa: N818  # the name that the specification gives it
    """A component does not do what its contract says.

    Attributes:
        check: name of the check that failed.
        detail: what was expected, and what happened.
    """

    def __init__(self, check: str, detail: str) -> None:
        super().__init__(f"{check}: {detail}")
        self.check = check
        self.detail = detail


def expect(check: str, holds: bool, detail: str) -> None:  # reads like an assertion
    """Fail the check with `detail` if it does not hold."""
    if not holds:
        raise ConformanceFailure(check, detail)
