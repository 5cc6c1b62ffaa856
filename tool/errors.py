"""How code behind a tool reports an expected failure."""

from agentslot import AgentSlotError


class ToolFailedError(AgentSlotError):
    """A tool could not do what it was asked; the model reads why and what to change.

    Raise it inside a function tool to answer with a structured failure. Any other exception is
    reported without its text, since that was not written for a model to read.

    Attributes:
        code: a stable snake_case name of the case, such as `not_found`.
        message: what happened and the one thing to change, in words for the model.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
