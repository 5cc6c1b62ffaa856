"""The scripted model as a module: all that an application under test needs of models."""

from agentslot import Module
from agentslot.model.contract import (
    MODEL_EXECUTOR,
    TOKEN_COUNTER,
    ExecutionCapabilities,
    ModelRequest,
    TokenCount,
)
from agentslot.model.testing.scripted import Script, ScriptedExecutor


class ScriptedModule(Module):
    """Fills `model.executor` with a ScriptedExecutor, whatever model a Session names.

    It fills `model.token-counter` too: a request counts one token for each of its inputs.
    """

    def __init__(self, *scripts: Script, capabilities: ExecutionCapabilities | None = None) -> None:
        """Play `scripts`, first in first out; see ScriptedExecutor."""
        self._executor = ScriptedExecutor(*scripts, capabilities=capabilities)
        super().__init__(
            "model.scripted",
            MODEL_EXECUTOR.set(self._executor),
            TOKEN_COUNTER.set(_OneTokenAnInput()),
        )

    @property
    def requests(self) -> list[ModelRequest]:
        """Every request that was made, in order."""
        return self._executor.requests

    def add(self, *scripts: Script) -> None:
        """Put more scripts behind those that are left."""
        self._executor.add(*scripts)


class _OneTokenAnInput:
    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        return TokenCount(len(request.inputs))
