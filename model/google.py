"""The module for Gemini models, at AI Studio or in Google Cloud."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

from agentslot.model.attempt import Timeouts
from agentslot.model.cachedcontents import CachedContents, ExplicitCaching
from agentslot.model.contract import ExecutionCapabilities, ModelDescriptor
from agentslot.model.endpoint import Endpoint, key_reference
from agentslot.model.provider import ProviderModule, describe_models
from agentslot.model.retry import RetryPolicy
from agentslot.model.wires.google_generative_ai import (
    AI_STUDIO,
    CachedContentRequests,
    GoogleGenerativeAIWire,
    GoogleSettings,
    VertexProject,
)
from agentslot.session import Reasoning
from agentslot.session.credential import CredentialRef

_WINDOW = 1_048_576
_EFFORTS = (Reasoning.DEFAULT, Reasoning.LOW, Reasoning.MEDIUM, Reasoning.HIGH)


class GoogleModule(ProviderModule):
    """Adds Google's servers of Gemini models.

    ```python
    GoogleModule(models=["gemini-3.8-flash"])
    GoogleModule(models=["gemini-3.8-flash"], vertex=VertexProject("my-project", "us-central1"))
    ```

    In Google Cloud `credential=GOOGLE_DEFAULT` asks `GoogleCredentials`, which finds the
    application default credentials and keeps their token fresh.

    Several providers in one application need different keys.
    """

    def __init__(
        self,
        models: Sequence[str | ModelDescriptor],
        *,
        vertex: VertexProject | None = None,
        base_url: str | None = None,
        api_key_env: str | None = "GEMINI_API_KEY",
        access_token_env: str | None = "GOOGLE_ACCESS_TOKEN",  # noqa: S107 - the name of a variable
        credential: CredentialRef | None = None,
        provider: str = "google",
        settings: GoogleSettings | None = None,
        explicit_caching: ExplicitCaching | None = None,
        headers: Mapping[str, str | None] | None = None,
        retry: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        """Describe the server; nothing is connected or looked up before the first request.

        Args:
            models: what may be asked: ids that the catalog knows, or descriptors. An id that
                it does not know is taken for the vendor's default model at the vendor's own
                server, and for a text model with a window of 1,048,576 tokens elsewhere.
            vertex: the project in Google Cloud to ask in; None asks AI Studio. Nothing in the
                environment switches this.
            base_url: absolute URL to which version and model are appended; None is Google's own.
            api_key_env: environment variable with the key for AI Studio, read anew for each
                attempt; None for a server that wants no key.
            access_token_env: the same with `vertex`: the variable with an access token, as
                `gcloud auth print-access-token` prints it.
            credential: reference of the key in `credential.resolver`, in place of the variable.
            provider: key of this server in model selections and the catalog.
            settings: API version and thinking.
            explicit_caching: when the server is asked to keep system prompt and tools under a name
                for all requests that have the same; None leaves it to what it caches by itself.
            headers: further header fields of every request; None removes one.
            retry: how often and how patiently a call is tried.
            timeouts: limits of one attempt.

        Raises:
            ValueError: base_url is no plain absolute URL, there is no model, or a descriptor names
                another provider.
        """
        chosen = settings or GoogleSettings()
        variable = api_key_env if vertex is None else access_token_env
        server = base_url or (AI_STUDIO if vertex is None else vertex.base_url)
        super().__init__(
            f"model.google.{provider}",
            GoogleGenerativeAIWire(chosen, vertex),
            Endpoint(server, key_reference(variable, credential), headers or {}),
            describe_models(
                models, provider, server, partial(_guess, chosen), chosen.takes_output_with_tools
            ),
            retry=retry,
            timeouts=timeouts,
        )
        if explicit_caching is not None:
            requests = CachedContentRequests(chosen, vertex)
            exchange = self._provider.exchange
            self._provider.cached = CachedContents(exchange, requests, explicit_caching)

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Keep cached contents if that is wanted, and close the connections at the end."""
        async with super().lifespan():
            if self._provider.cached is None:
                yield
            else:
                async with self._provider.cached.running():
                    yield


def _guess(settings: GoogleSettings, model: str) -> ExecutionCapabilities:
    """What a model is taken for that is named by its id alone."""
    family = settings.family_of(model)
    thinks = bool(family.levels or family.budgets)
    return ExecutionCapabilities(_WINDOW, reasoning=_EFFORTS if thinks else _EFFORTS[:1])
