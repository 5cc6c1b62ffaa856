"""The executor for everybody: it passes each call to the provider that the selection names."""

import difflib
from collections.abc import Mapping, Sequence

from agentslot import Module, Registrar
from agentslot.model.contract import (
    MODEL_EXECUTOR,
    TOKEN_COUNTER,
    AttemptRecorder,
    ExecutionCapabilities,
    ModelRequest,
    ModelStream,
    TokenCount,
)
from agentslot.model.extension import (
    MODEL_MIDDLEWARE,
    MODEL_PROVIDERS,
    ModelMiddleware,
    ModelProvider,
    Proceed,
)
from agentslot.model.structured import execute_shaped, shaped
from agentslot.session import ClassifiedError, ErrorKind, ModelConfig


class ProviderExecutor:
    """A ModelExecutor and TokenCounter over several providers, with middleware in front."""

    def __init__(
        self, providers: Mapping[str, ModelProvider], middleware: Sequence[ModelMiddleware] = ()
    ) -> None:
        """Route to `providers` by their keys; the first middleware is the outermost."""
        self._providers = providers
        self._middleware = tuple(middleware)

    def inspect(self, config: ModelConfig) -> ExecutionCapabilities:
        """What the selected model can do; see ModelExecutor."""
        return self.provider(config).inspect(config)

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        """Begin one logical call; see ModelExecutor."""
        self.provider(request.config)
        return Rest(_Asked(self), self._middleware)(request, recorder)

    @property
    def counts_offline(self) -> bool:
        """Whether no provider asks a server when it counts; see ModelProvider."""
        return all(getattr(each, "counts_offline", False) for each in self._providers.values())

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        """Tokens of the request, as its provider counts them; see TokenCounter."""
        return await self.provider(request.config).count_tokens(self.shaped(request))

    def shaped(self, request: ModelRequest) -> ModelRequest:
        """The request as its provider gets it, with the strategy for the wanted form chosen.

        Raises:
            ClassifiedError: `invalid_input/output_strategy_not_supported`.
        """
        return request if request.output is None else shaped(request, self.inspect(request.config))

    def provider(self, config: ModelConfig) -> ModelProvider:
        """The provider that the selection names.

        Raises:
            ClassifiedError: `invalid_input/model_not_supported`, naming those that there are.
        """
        if provider := self._providers.get(config.provider):
            return provider
        near = difflib.get_close_matches(config.provider, self._providers, n=1)
        there = ", ".join(sorted(self._providers))
        hint = f": do you mean {near[0]!r}?" if near else ": add the module of that provider"
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "model_not_supported",
            f"there is no provider {config.provider!r}, only {there}{hint}",
        )


class Rest:
    """The middleware that is left, and what answers behind it; see Proceed."""

    def __init__(self, last: Proceed, left: tuple[ModelMiddleware, ...]) -> None:
        self._last = last
        self._left = left

    def __call__(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        """Begin what is left; see Proceed."""
        if not self._left:
            return self._last(request, recorder)
        first, *others = self._left
        return first.execute(request, recorder, Rest(self._last, tuple(others)))

    async def fingerprint(self, request: ModelRequest) -> str:
        """The fingerprint of what answers; see Proceed."""
        return await self._last.fingerprint(request)


class _Asked:
    """The provider that the request names, behind all middleware."""

    def __init__(self, executor: ProviderExecutor) -> None:
        self._executor = executor

    def __call__(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        return execute_shaped(self._executor.provider(request.config), request, recorder)

    async def fingerprint(self, request: ModelRequest) -> str:
        provider = self._executor.provider(request.config)
        return await provider.fingerprint(self._executor.shaped(request))


class ProvidersModule(Module):
    """Fills `model.executor` and `model.token-counter` from the installed providers, by default.

    Whoever fills one of the two slots otherwise replaces it. The middleware belongs to this
    executor.
    """

    id = "model.providers"
    requires = (MODEL_PROVIDERS.at_least(1), MODEL_MIDDLEWARE.optional())

    def register(self, registrar: Registrar) -> None:
        """Contribute both defaults."""
        registrar.contribute(
            MODEL_EXECUTOR.set_default_with(
                lambda resolver: ProviderExecutor(
                    resolver[MODEL_PROVIDERS], resolver[MODEL_MIDDLEWARE]
                )
            ),
            TOKEN_COUNTER.set_default_with(
                lambda resolver: ProviderExecutor(resolver[MODEL_PROVIDERS])
            ),
        )
