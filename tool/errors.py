"""How tools fail.

AgentSlotError
├── ToolFailedError         code, message: an expected failure that the model is told about
├── ToolDeclarationError    a function cannot be shown to a model as it is written
├── ToolRootError           the folder that tools are to work in is not there
├── ToolMiddlewareError     a middleware went on where it must not
└── SandboxError            an execution environment is not there, or does not confine
"""

from pathlib import Path

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


class ToolDeclarationError(AgentSlotError):
    """A function cannot be made into a tool; the message says which part of it to change.

    Attributes:
        tool: name of the function or tool.
    """

    def __init__(self, tool: str, reason: str) -> None:
        super().__init__(f"{tool!r} cannot be a tool: {reason}")
        self.tool = tool


class ToolRootError(AgentSlotError):
    """The folder that a module's tools are to work in does not exist; raised when it starts.

    Attributes:
        module: id of the module.
        folder: the absolute path that was looked for.
    """

    def __init__(self, module: str, folder: Path) -> None:
        super().__init__(f"{module}: there is no folder {folder}; create it or pass another root")
        self.module = module
        self.folder = folder


class ToolMiddlewareError(AgentSlotError):
    """A middleware asked for an execution that must not happen: a second one, or a late one.

    Attributes:
        tool: name of the tool that was not run.
        reason: what the middleware did.
    """

    def __init__(self, tool: str, reason: str) -> None:
        super().__init__(f"{tool} was not run: {reason}; call `proceed` once, and wait for it")
        self.tool = tool
        self.reason = reason


class SandboxError(AgentSlotError):
    """An execution environment cannot be used here, or does not confine what it promises.

    Nothing is run outside of it instead.

    Attributes:
        environment: which one.
        reason: what is the matter.
    """

    def __init__(self, environment: str, reason: str) -> None:
        super().__init__(f"the execution environment {environment} cannot be used: {reason}")
        self.environment = environment
        self.reason = reason
