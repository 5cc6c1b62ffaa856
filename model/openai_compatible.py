"""The module for OpenAI and every server that speaks its chat completions protocol."""

from collections.abc import Mapping, Sequence

from agentslot.model.attempt import Timeouts
from agentslot.model.contract import ExecutionCapabilities, ModelDescriptor
from agentslot.model.endpoint import Endpoint, key_reference
from agentslot.model.provider import ProviderModule, describe_models
from agentslot.model.retry import RetryPolicy
from agentslot.model.wires.caching import CacheRetention
from agentslot.model.wires.openai_completions import CompatibilityProfile, OpenAICompletionsWire
from agentslot.session import Reasoning
from agentslot.session.credential import CredentialRef

_UNKNOWN_MODEL = ExecutionCapabilities(
    context_window_tokens=128_000,
    reasoning=(Reasoning.DEFAULT, Reasoning.LOW, Reasoning.MEDIUM, Reasoning.HIGH),
)
"""What a model named by its id alone is taken for."""


class OpenAICompatibleModule(ProviderModule):
    """Adds one server that speaks OpenAI's chat completions.

    ```python
    OpenAICompatibleModule(
        base_url="https://api.openai.com/v1", api_key_env="OPENAI_API_KEY", models=["gpt-5-mini"]
    )
    ```

    Several providers in one application need different keys.
    """

    def __init__(
        self,
        base_url: str,
        models: Sequence[str | ModelDescriptor],
        *,
        api_key_env: str | None = None,
        credential: CredentialRef | None = None,
        provider: str = "openai",
        profile: CompatibilityProfile | None = None,
        service_tier: str | None = None,
        cache: CacheRetention = CacheRetention.SHORT,
        headers: Mapping[str, str | None] | None = None,
        retry: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        """Describe the server; nothing is connected or looked up before the first request.

        Args:
            base_url: absolute URL to which `/chat/completions` is appended.
            models: what may be asked: ids that the catalog knows, or descriptors. An id that
                it does not know is taken for the vendor's default model at the vendor's own
                server, and for a text model with a window of 128,000 tokens elsewhere.
            api_key_env: environment variable with the key, read anew for each attempt; None for a
                server that wants no key.
            credential: reference of the key in `credential.resolver`, in place of api_key_env.
            provider: key of this server in model selections and the catalog.
            profile: what the server does differently; known hosts have theirs.
            service_tier: what to be served by, such as `flex`, which is cheaper and slower, or
                `priority`; None leaves it to the server. What it costs follows from the tier that
                the server then says it took.
            cache: what is asked of the prompt cache. LONG marks the prompt for an hour, where the
                profile has such marks; NONE leaves out all that the profile would send for it.
            headers: further header fields of every request; None removes one.
            retry: how often and how patiently a call is tried.
            timeouts: limits of one attempt.

        Raises:
            ValueError: base_url is no plain absolute URL, there is no model, or a descriptor names
                another provider.
        """
        super().__init__(
            f"model.openai-compatible.{provider}",
            OpenAICompletionsWire(base_url, profile, service_tier, cache),
            Endpoint(base_url, key_reference(api_key_env, credential), headers or {}),
            describe_models(models, provider, base_url, lambda _: _UNKNOWN_MODEL),
            retry=retry,
            timeouts=timeouts,
        )
