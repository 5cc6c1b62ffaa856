"""The module for OpenAI and every server that speaks its chat completions protocol."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agentslot import Module, Registrar
from agentslot.model.attempt import Timeouts
from agentslot.model.contract import (
    MODEL_CATALOG,
    MODEL_EXECUTOR,
    TOKEN_COUNTER,
    ExecutionCapabilities,
    ModelDescriptor,
)
from agentslot.model.endpoint import Endpoint, EnvironmentCredential
from agentslot.model.estimate import BoundingTokenCounter, UsageLedger
from agentslot.model.executor import WireExecutor
from agentslot.model.retry import RetryPolicy
from agentslot.model.wires.openai_completions import CompatibilityProfile, OpenAICompletionsWire
from agentslot.session import Reasoning

_UNKNOWN_MODEL = ExecutionCapabilities(
    context_window_tokens=128_000,
    reasoning=(Reasoning.DEFAULT, Reasoning.LOW, Reasoning.MEDIUM, Reasoning.HIGH),
)
"""What a model named by its id alone is taken for."""


class OpenAICompatibleModule(Module):
    """Fills `model.executor` with one server that speaks OpenAI's chat completions.

    ```python
    OpenAICompatibleModule(
        base_url="https://api.openai.com/v1", api_key_env="OPENAI_API_KEY", models=["gpt-5-mini"]
    )
    ```

    It also gives the default token counter, and a catalog under the provider's key.
    """

    def __init__(
        self,
        base_url: str,
        models: Sequence[str | ModelDescriptor],
        *,
        api_key_env: str | None = None,
        provider: str = "openai",
        profile: CompatibilityProfile | None = None,
        headers: Mapping[str, str | None] | None = None,
        retry: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        """Describe the server; nothing is connected or looked up before the first request.

        Args:
            base_url: absolute URL to which `/chat/completions` is appended.
            models: what may be asked: ids, or descriptors where window, reasoning or price are
                known. An id alone is taken for a text model with a window of 128,000 tokens.
            api_key_env: environment variable with the key, read anew for each attempt; None for a
                server that wants no key.
            provider: key of this server in model selections and the catalog.
            profile: what the server does differently; known hosts have theirs.
            headers: further header fields of every request; None removes one.
            retry: how often and how patiently a call is tried.
            timeouts: limits of one attempt.

        Raises:
            ValueError: base_url is no plain absolute URL, there is no model, or a descriptor names
                another provider.
        """
        super().__init__(f"model.openai-compatible.{provider}")
        credential = None if api_key_env is None else EnvironmentCredential(api_key_env)
        endpoint = Endpoint(base_url, credential, headers or {})
        wire = OpenAICompletionsWire(base_url, profile)
        usage = UsageLedger()
        self._provider = provider
        self._models = _describe(models, provider)
        self._counter = BoundingTokenCounter(wire, usage)
        self._executor = WireExecutor(
            wire, endpoint, self._models, retry=retry, timeouts=timeouts, usage=usage
        )

    def register(self, registrar: Registrar) -> None:
        """Contribute executor, default token counter and catalog."""
        registrar.contribute(
            MODEL_EXECUTOR.set(self._executor),
            TOKEN_COUNTER.set_default(self._counter),
            MODEL_CATALOG.add(self._provider, StaticCatalog(self._models)),
        )

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Close the connections when the application ends."""
        try:
            yield
        finally:
            await self._executor.aclose()


@dataclass(frozen=True, slots=True)
class StaticCatalog:
    """A ModelCatalog that was written down."""

    descriptors: tuple[ModelDescriptor, ...]

    def models(self) -> Sequence[ModelDescriptor]:
        """All of them."""
        return self.descriptors


def _describe(
    models: Sequence[str | ModelDescriptor], provider: str
) -> tuple[ModelDescriptor, ...]:
    if isinstance(models, str) or not models:
        raise ValueError(f"models must be a list of at least one model, not {models!r}")
    described = tuple(
        ModelDescriptor(provider, model, _UNKNOWN_MODEL) if isinstance(model, str) else model
        for model in models
    )
    for descriptor in described:
        if descriptor.provider != provider:
            raise ValueError(
                f"model {descriptor.model!r} belongs to provider {descriptor.provider!r}, this"
                f" module is {provider!r}: give the module provider={descriptor.provider!r}"
            )
    return described
