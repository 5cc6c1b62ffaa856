"""The module for models on an Ollama server."""

import os
from collections.abc import Mapping, Sequence

from agentslot.model.attempt import Timeouts
from agentslot.model.contract import ExecutionCapabilities, ModelDescriptor
from agentslot.model.endpoint import Endpoint, key_reference
from agentslot.model.provider import ProviderModule, describe_models
from agentslot.model.retry import RetryPolicy
from agentslot.model.wires.ollama_chat import OllamaChatWire, OllamaSettings, ollama_url
from agentslot.session import OutputStrategy, Reasoning
from agentslot.session.credential import CredentialRef

_EFFORTS = (Reasoning.DEFAULT, Reasoning.LOW, Reasoning.MEDIUM, Reasoning.HIGH)


class OllamaModule(ProviderModule):
    """Adds an Ollama server, over its own protocol.

    ```python
    OllamaModule(models=["qwen3"])
    ```

    Several providers in one application need different keys.
    """

    def __init__(
        self,
        models: Sequence[str | ModelDescriptor],
        *,
        host: str | None = None,
        api_key_env: str | None = None,
        credential: CredentialRef | None = None,
        provider: str = "ollama",
        settings: OllamaSettings | None = None,
        headers: Mapping[str, str | None] | None = None,
        retry: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        """Describe the server; nothing is connected before the first request.

        Args:
            models: what may be asked: ids, or descriptors where window, efforts or modalities are
                known. The window of a descriptor is the one that the server sets up.
            host: the server, as `OLLAMA_HOST` names it: scheme, host and port may each be missing.
                None takes that variable, or this machine at port 11434.
            api_key_env: environment variable with a key, read anew for each attempt; None for a
                server that wants no key, as your own.
            credential: reference of the key in `credential.resolver`, in place of the variable.
            provider: key of this server in model selections and the catalog.
            settings: context window and how long models stay in memory.
            headers: further header fields of every request; None removes one.
            retry: how often and how patiently a call is tried.
            timeouts: limits of one attempt. A large model may take minutes to load before the first
                byte.

        Raises:
            ValueError: host is none, there is no model, or a descriptor names another provider.
        """
        chosen = settings or OllamaSettings()
        capabilities = ExecutionCapabilities(
            chosen.context_window_tokens,
            reasoning=_EFFORTS,
            structured_output=tuple(OutputStrategy),
        )
        url = ollama_url(os.environ.get("OLLAMA_HOST", "") if host is None else host)
        # What constrains an answer there leaves a model no way to call a tool.
        described = describe_models(
            models, provider, url, lambda _: capabilities, native_output_with_tools=lambda _: False
        )
        windows = {d.model: d.capabilities.context_window_tokens for d in described}
        super().__init__(
            f"model.ollama.{provider}",
            OllamaChatWire(chosen, windows),
            Endpoint(url, key_reference(api_key_env, credential), headers or {}),
            described,
            retry=retry,
            timeouts=timeouts,
        )
