"""What the modules of all providers have in common: one server, one wire, the models behind it."""

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Self

from agentslot import Module, Registrar, Resolver
from agentslot._http import HttpTransport
from agentslot.model.attempt import Timeouts
from agentslot.model.catalog import embedded_catalog, find, resolve_at
from agentslot.model.contract import (
    MODEL_CATALOG,
    ExecutionCapabilities,
    ModelDescriptor,
)
from agentslot.model.endpoint import Endpoint
from agentslot.model.estimate import Measure
from agentslot.model.extension import MODEL_PROVIDERS
from agentslot.model.retry import RetryPolicy
from agentslot.model.wire import Wire
from agentslot.model.wireprovider import WireProvider
from agentslot.model.wires.attachments import modality_of
from agentslot.model.wires.caching import CacheStats
from agentslot.session import ARTIFACT_STORE, Modality, OutputStrategy
from agentslot.session.credential import CREDENTIAL_RESOLVER, in_environment

log = logging.getLogger(__name__)


class ProviderModule(Module):
    """Adds one server that is reached over one wire to `model.provider`.

    It also adds a catalog of its models under the same key.
    """

    def __init__(
        self,
        module_id: str,
        wire: Wire,
        endpoint: Endpoint,
        models: Sequence[ModelDescriptor],
        *,
        retry: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        """Describe the server; nothing is connected or looked up before the first request.

        Args:
            module_id: identity of the module.
            wire: the protocol.
            endpoint: the server.
            models: what may be asked, all of one provider; see `describe_models`.
            retry: how often and how patiently a call is tried.
            timeouts: limits of one attempt.
        """
        super().__init__(module_id)
        models = tuple(_carried_by(wire, model) for model in models)
        self._catalog = StaticCatalog(models)
        self._provider = WireProvider(wire, endpoint, models, retry=retry, timeouts=timeouts)
        self._referred = endpoint.credential is not None and not in_environment(endpoint.credential)
        referred = (CREDENTIAL_RESOLVER.required(),) if self._referred else ()
        self.requires = (ARTIFACT_STORE.optional(), *referred)
        self._running = 0  # applications that have the module

    def over(self, transport: HttpTransport) -> Self:
        """Let requests go through `transport` instead of the network; gives the module back."""
        self._provider.transport = transport
        return self

    def counted_by(self, measure: Measure) -> Self:
        """Let `measure` count tokens, such as OpenAITokens; gives the module back."""
        self._provider.measure = measure
        return self

    @property
    def cache_stats(self) -> CacheStats:
        """What the provider's prompt cache did for the requests of this module so far."""
        return self._provider.cache.stats

    def register(self, registrar: Registrar) -> None:
        """Contribute provider and catalog under the provider's key."""
        key = self._catalog.descriptors[0].provider
        registrar.contribute(
            MODEL_PROVIDERS.add_with(key, self._connected), MODEL_CATALOG.add(key, self._catalog)
        )

    def _connected(self, resolver: Resolver) -> WireProvider:
        if self._referred:
            self._provider.credentials = resolver[CREDENTIAL_RESOLVER]
        self._provider.contents.store = resolver.get(ARTIFACT_STORE)
        return self._provider

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Close the connections when the application ends, the last one if there are several."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                await self._provider.aclose()


@dataclass(frozen=True, slots=True)
class StaticCatalog:
    """A ModelCatalog that was written down."""

    descriptors: tuple[ModelDescriptor, ...]

    def models(self) -> Sequence[ModelDescriptor]:
        """All of them."""
        return self.descriptors


def describe_models(
    models: Sequence[str | ModelDescriptor],
    provider: str,
    base_url: str,
    guess: Callable[[str], ExecutionCapabilities],
    native_output_with_tools: Callable[[str], bool] = lambda _: True,
) -> tuple[ModelDescriptor, ...]:
    """Descriptors of the models that a module was given.

    Args:
        models: ids, or descriptors where window, reasoning or price are known better than in the
            catalog.
        provider: key of the provider.
        base_url: the server. The catalog is asked for its vendor, if the host is that of one.
        guess: what a model is taken for that is named by its id alone and is not in the catalog.
        native_output_with_tools: whether a model can be held to a schema while it has tools.

    Raises:
        ValueError: there is no model, or a descriptor names another provider.
    """
    if isinstance(models, str) or not models:
        raise ValueError(f"models must be a list of at least one model, not {models!r}")
    named = (
        _describe(model, provider, base_url, guess) if isinstance(model, str) else model
        for model in models
    )
    described = tuple(
        replace(each, capabilities=_output_of(each, native_output_with_tools(each.model)))
        for each in named
    )
    for descriptor in described:
        if descriptor.provider != provider:
            raise ValueError(
                f"model {descriptor.model!r} belongs to provider {descriptor.provider!r}, this"
                f" module is {provider!r}: give the module provider={descriptor.provider!r}"
            )
    return described


def _describe(
    model: str, provider: str, base_url: str, guess: Callable[[str], ExecutionCapabilities]
) -> ModelDescriptor:
    """Only a vendor's own server lets us assume anything of a model that the catalog lacks."""
    vendor = embedded_catalog().vendor_at(base_url)
    resolved = find(provider, model) if vendor is None else resolve_at(vendor, model)
    if resolved is None:
        return ModelDescriptor(provider, model, guess(model))
    descriptor = resolved.descriptor(provider)
    if not resolved.cloned_from:
        return descriptor
    log.warning("%s", resolved.warning)
    # Which efforts a model takes, the wire can tell by its name better than a sibling's row.
    efforts = guess(model).reasoning
    return replace(descriptor, capabilities=replace(descriptor.capabilities, reasoning=efforts))


def _carried_by(wire: Wire, model: ModelDescriptor) -> ModelDescriptor:
    """The model as it can be reached: what the wire cannot carry, it is not shown."""
    known = model.capabilities
    carried = {Modality.TEXT, *map(modality_of, wire.media_types)}
    reads = known.input_modalities & carried
    return replace(model, capabilities=replace(known, input_modalities=reads))


def _output_of(model: ModelDescriptor, native_with_tools: bool) -> ExecutionCapabilities:
    """What a model can do, completed by what every wire makes of a wanted form of the answer."""
    known = model.capabilities
    usual = (OutputStrategy.TOOL,) if known.tool_calling else ()
    return replace(
        known,
        structured_output=known.structured_output or (*usual, OutputStrategy.PROMPTED),
        native_output_with_tools=known.native_output_with_tools and native_with_tools,
    )
