"""The provider behind one HTTP server: one wire, one endpoint, and the models behind it."""

import difflib
import hashlib
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from agentslot._http import HttpTransport, new_client
from agentslot.model.artifactcontents import ArtifactContents
from agentslot.model.attempt import Attempt, Timeouts
from agentslot.model.cachedcontents import CachedContents
from agentslot.model.call import LogicalCall
from agentslot.model.contract import (
    AttemptRecorder,
    ExecutionCapabilities,
    ModelDescriptor,
    ModelRequest,
    TokenCount,
)
from agentslot.model.endpoint import Endpoint
from agentslot.model.errors import ModelError
from agentslot.model.estimate import Measure, UsageLedger, bound_by_bytes
from agentslot.model.promptcache import PromptCache
from agentslot.model.retry import RetryPolicy
from agentslot.model.wire import Wire, WireRequest
from agentslot.model.wires.attachments import Media, modality_of
from agentslot.session import AttemptId, ClassifiedError, ErrorKind, Modality, ModelConfig
from agentslot.session.credential import CredentialResolver, EnvironmentCredentials

if TYPE_CHECKING:
    from agentslot._http import AsyncClient

_LARGE_BYTES = 1024 * 1024


class WireProvider:
    """A ModelProvider that speaks one wire to one server. Close it with `aclose()`.

    Attributes:
        counts_offline: see ModelProvider.
        credentials: gives the key that the endpoint refers to.
        transport: stands in for the network; None is the network.
        measure: counts the tokens of what is sent.
        contents: reads what models are shown of attachments.
        cache: watches over the provider's prompt cache.
        cached: keeps heads of requests at the server, under names; None if nothing does.
    """

    counts_offline = True

    def __init__(
        self,
        wire: Wire,
        endpoint: Endpoint,
        models: Sequence[ModelDescriptor],
        *,
        retry: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
        usage: UsageLedger | None = None,
    ) -> None:
        self.credentials: CredentialResolver = EnvironmentCredentials()
        self.transport: HttpTransport | None = None
        self.measure: Measure = bound_by_bytes
        self.contents = ArtifactContents()
        self.cache = PromptCache()
        self.cached: CachedContents | None = None
        self._wire = wire
        self._endpoint = endpoint
        self._models = {(model.provider, model.model): model for model in models}
        self._retry = retry or RetryPolicy()
        self._timeouts = timeouts or Timeouts()
        self._usage = usage or UsageLedger()
        self._client: AsyncClient | None = None
        self._opening = anyio.Lock()

    @property
    def _keys(self) -> CredentialResolver:
        """What gives keys; a transport that asks nobody brings its own, so that none is needed."""
        return getattr(self.transport, "credentials", self.credentials)

    def inspect(self, config: ModelConfig) -> ExecutionCapabilities:
        """What the selected model can do; see ModelExecutor."""
        descriptor = self._models.get((config.provider, config.model))
        if descriptor is None:
            raise self._unknown(config)
        return descriptor.capabilities

    def execute(self, request: ModelRequest, recorder: AttemptRecorder) -> LogicalCall:
        """Begin one logical call; see ModelExecutor."""
        return LogicalCall(
            request,
            recorder,
            wire=self._wire,
            encode=self._encode,
            endpoint=self._endpoint,
            credentials=self._keys,
            model=self._models.get((request.config.provider, request.config.model)),
            retry=self._retry,
            timeouts=self._timeouts,
            usage=self._usage,
            cache=self.cache,
            cached=self.cached,
            client=self._open_client,
        )

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        """What was reported of the conversation and what `measure` makes of the rest."""
        body = (await self._encode(request)).body
        if self.measure is bound_by_bytes and len(body) < _LARGE_BYTES:
            return self._usage.count(request, body)
        # A vocabulary is large, and a long text or an image takes a while.
        return await anyio.to_thread.run_sync(self._usage.count, request, body, self.measure)

    async def fingerprint(self, request: ModelRequest) -> str:
        """A digest of the exact bytes and their address; see ModelProvider."""
        sent = await self._encode(request)
        digest = hashlib.sha256(f"{self._endpoint.url(sent.path)}\n".encode())
        digest.update(sent.body)
        return digest.hexdigest()

    async def exchange(self, request: WireRequest, method: str = "POST") -> bytes:
        """Send a request that is no call of a model, and read its answer.

        Raises:
            ModelError: no credential, no connection, no time, or an answer that is a failure.
        """
        attempt = Attempt(AttemptId(""), self._wire, self._endpoint, self._keys, self._timeouts)
        try:
            await attempt.send(await self._open_client(), request, method=method)
            return await attempt.read_document()
        except ModelError as error:
            attempt.redact(error)
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await attempt.aclose()

    async def _encode(self, request: ModelRequest) -> WireRequest:
        """The only way to a request: what was encoded without its content stays so."""
        descriptor = self._models.get((request.config.provider, request.config.model))
        known = None if descriptor is None else descriptor.capabilities
        reads = frozenset[Modality]() if known is None else known.input_modalities
        if reads <= {Modality.TEXT}:
            return self._wire.encode(request)
        attached = self._wire.new_attachments(request)
        new = [part for part in attached if modality_of(part.media_type) in reads]
        return self._wire.encode(request, Media(await self.contents.read(new), reads))

    async def aclose(self) -> None:
        """Close all connections. Another call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _open_client(self) -> "AsyncClient":
        async with self._opening:
            if self._client is None:
                make = partial(
                    new_client,
                    idle_seconds=self._timeouts.idle_seconds,
                    connect_seconds=self._timeouts.connect_seconds,
                    transport=self.transport,
                )
                # Loading the certificates takes tens of milliseconds, and reads files.
                self._client = await anyio.to_thread.run_sync(make)
            return self._client

    def _unknown(self, config: ModelConfig) -> ClassifiedError:
        wanted = f"{config.provider}/{config.model}"
        known = [f"{provider}/{model}" for provider, model in self._models]
        near = difflib.get_close_matches(wanted, known, n=3, cutoff=0.4) or known[:5]
        return ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "model_not_supported",
            f"no model {wanted!r} is configured; there is {', '.join(near)}",
        )
