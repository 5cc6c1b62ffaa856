"""The scripted model as a module: all that an application under test needs of models."""

from collections.abc import Sequence

from agentslot import Module
from agentslot.model.contract import (
    MODEL_EXECUTOR,
    TOKEN_COUNTER,
    AttemptRecorder,
    ExecutionCapabilities,
    ModelExecutor,
    ModelRequest,
    ModelStream,
    TokenCount,
)
from agentslot.model.executor import Rest
from agentslot.model.extension import MODEL_MIDDLEWARE, ModelMiddleware
from agentslot.model.testing.scripted import Scripted, ScriptedExecutor
from agentslot.session import ModelConfig, text_digest


class ScriptedModule(Module):
    """Fills `model.executor` with a ScriptedExecutor, whatever model a Session names.

    The middleware of the application stands before it, as before any provider. It fills
    `model.token-counter` too: a request counts one token for each of its inputs.
    """

    def __init__(
        self, *scripts: Scripted, capabilities: ExecutionCapabilities | None = None
    ) -> None:
        """Play `scripts`, first in first out; see ScriptedExecutor."""
        self._executor = ScriptedExecutor(*scripts, capabilities=capabilities)
        super().__init__(
            "model.scripted",
            MODEL_EXECUTOR.set_with(
                lambda resolver: _behind(resolver[MODEL_MIDDLEWARE], self._executor)
            ),
            TOKEN_COUNTER.set(_OneTokenAnInput()),
            requires=(MODEL_MIDDLEWARE.optional(),),
        )

    @property
    def requests(self) -> list[ModelRequest]:
        """Every request that was made, in order."""
        return self._executor.requests

    def add(self, *scripts: Scripted) -> None:
        """Put more scripts behind those that are left."""
        self._executor.add(*scripts)


def _behind(middleware: Sequence[ModelMiddleware], executor: ScriptedExecutor) -> ModelExecutor:
    return _Behind(tuple(middleware), executor) if middleware else executor


class _Behind:
    """The scripted executor as the last one of a chain of middleware."""

    def __init__(self, middleware: tuple[ModelMiddleware, ...], executor: ScriptedExecutor) -> None:
        self._middleware = middleware
        self._executor = executor

    def inspect(self, config: ModelConfig) -> ExecutionCapabilities:
        return self._executor.inspect(config)

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        return Rest(_Scripted(self._executor), self._middleware)(request, recorder)


class _Scripted:
    """What every request comes to; see Proceed."""

    def __init__(self, executor: ScriptedExecutor) -> None:
        self._executor = executor

    def __call__(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        return self._executor.execute(request, recorder)

    async def fingerprint(self, request: ModelRequest) -> str:
        shown = [request.config, request.system_prompt, list(request.inputs), request.tools]
        return text_digest(f"{shown}{request.output}")


class _OneTokenAnInput:
    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        return TokenCount(len(request.inputs))
