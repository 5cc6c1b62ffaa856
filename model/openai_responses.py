"""The module for OpenAI and every server that speaks its Responses API."""

from collections.abc import Mapping, Sequence

from agentslot.model.attempt import Timeouts
from agentslot.model.contract import ExecutionCapabilities, ModelDescriptor
from agentslot.model.endpoint import Endpoint, key_reference
from agentslot.model.provider import ProviderModule, describe_models
from agentslot.model.retry import RetryPolicy
from agentslot.model.wires.openai_responses import OpenAIResponsesWire, ResponsesSettings
from agentslot.session import Reasoning
from agentslot.session.credential import CredentialRef

_WINDOW = 128_000
_EFFORTS = (Reasoning.DEFAULT, Reasoning.LOW, Reasoning.MEDIUM, Reasoning.HIGH)


class OpenAIResponsesModule(ProviderModule):
    """Adds one server that speaks OpenAI's Responses API.

    ```python
    OpenAIResponsesModule(models=["gpt-5-mini"])
    ```

    Several providers in one application need different keys.
    """

    def __init__(
        self,
        models: Sequence[str | ModelDescriptor],
        *,
        base_url: str = "https://api.openai.com/v1",
        api_key_env: str | None = "OPENAI_API_KEY",
        credential: CredentialRef | None = None,
        provider: str = "openai",
        settings: ResponsesSettings | None = None,
        headers: Mapping[str, str | None] | None = None,
        retry: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        """Describe the server; nothing is connected or looked up before the first request.

        Args:
            models: what may be asked: ids that the catalog knows, or descriptors. An id that
                it does not know is taken for the vendor's default model at the vendor's own
                server, and for a text model with a window of 128,000 tokens elsewhere.
            base_url: absolute URL to which `/responses` is appended.
            api_key_env: environment variable with the key, read anew for each attempt; None for a
                server that wants no key.
            credential: reference of the key in `credential.resolver`, in place of api_key_env.
            provider: key of this server in model selections and the catalog.
            settings: caching and reasoning.
            headers: further header fields of every request; None removes one.
            retry: how often and how patiently a call is tried.
            timeouts: limits of one attempt.

        Raises:
            ValueError: base_url is no plain absolute URL, there is no model, or a descriptor names
                another provider.
        """
        chosen = settings or ResponsesSettings()

        def guess(model: str) -> ExecutionCapabilities:
            reasons = chosen.reasons(model)
            return ExecutionCapabilities(_WINDOW, reasoning=_EFFORTS if reasons else _EFFORTS[:1])

        super().__init__(
            f"model.openai-responses.{provider}",
            OpenAIResponsesWire(chosen),
            Endpoint(base_url, key_reference(api_key_env, credential), headers or {}),
            describe_models(models, provider, base_url, guess),
            retry=retry,
            timeouts=timeouts,
        )
