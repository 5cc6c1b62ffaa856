"""What stands between the Runtime and a server: providers, the selector and the middleware."""

from typing import Protocol

from agentslot import Chain, Many, One
from agentslot.model.contract import (
    AttemptRecorder,
    ModelExecutor,
    ModelRequest,
    ModelStream,
    TokenCounter,
)
from agentslot.session import ModelConfig


class ModelProvider(ModelExecutor, TokenCounter, Protocol):
    """All models of one provider, under the provider's key in the slot.

    The strategy for a wanted form of the answer has been chosen when a request comes here: its
    `output` is None, or has the strategy `native` (hold the model to the schema) or `tool` (the
    last tool brings the answer, so a call may be demanded). Its call is given back as any other.

    A provider may also have an attribute `counts_offline`. If it is true, `count_tokens` asks no
    server, so nobody has to watch how long it takes; others get a deadline, at the price of a task.
    """

    async def fingerprint(self, request: ModelRequest) -> str:
        """A digest of the exact bytes that would be sent, and where to; equal only if they are."""
        ...


class Proceed(Protocol):
    """What is left of a call behind a middleware: the next one, and at last the provider.

    The provider is found by the request's configuration.
    """

    def __call__(self, request: ModelRequest, recorder: AttemptRecorder) -> ModelStream:
        """Begin what is left. Nothing is sent before the stream is first read."""
        ...

    async def fingerprint(self, request: ModelRequest) -> str:
        """The provider's fingerprint of that request."""
        ...


class ModelMiddleware(Protocol):
    """Wraps every logical call, in the terms of the contract; the wire is out of its reach.

    The first of the chain is the outermost. A stream must be handed on as it comes: whoever wants
    the answer watches it pass by.

    Whoever asks once more looks at the recorder's budget before. If another model is asked than
    the request names, `served_model` of the attempt says so, as `provider/model`, and what that
    model wants back (`continuation`) is dropped.
    """

    def execute(
        self, request: ModelRequest, recorder: AttemptRecorder, proceed: Proceed
    ) -> ModelStream:
        """Begin the call, or answer it without going on."""
        ...


class ModelSelector(Protocol):
    """Decides on the models that people choose for a Session, when they choose them."""

    async def select(self, config: ModelConfig, /) -> ModelConfig:
        """The selection that the Session gets: the same, or the one that an alias stands for.

        It is recorded, so nothing is rerouted in secret.

        Raises:
            ClassifiedError: that selection is not allowed.
        """
        ...


MODEL_PROVIDERS = Many[ModelProvider]("model.provider", filled_by="AnthropicModule(models)")
MODEL_MIDDLEWARE = Chain[ModelMiddleware]("model.middleware")
MODEL_SELECTOR = One[ModelSelector]("model.selector")
