"""What a provider wire is: two pure halves, an encoder of requests and a decoder of answers.

A wire does no I/O. The executor sends what `encode` returns, feeds what arrives into a decoder, and
owns connections, credentials, timeouts and retries.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Protocol

from agentslot.model.contract import Completion, ModelRequest, ReasoningDelta, TextDelta
from agentslot.model.errors import ModelError
from agentslot.model.wires.attachments import NO_MEDIA, Media
from agentslot.model.wires.caching import CacheRetention
from agentslot.model.wires.prefix import TurnDigests
from agentslot.session import AttachmentPart, AttemptId, TokenUsage

Delta = TextDelta | ReasoningDelta
"""What a decoder shows of an answer that is still arriving."""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One request to be posted.

    Attributes:
        path: appended to the base URL, such as `/chat/completions`.
        body: the exact bytes of the body.
        stable: how many bytes at the beginning of the body the next request of the conversation
            repeats, 0 if none.
        headers: header fields of the protocol, names in lower case.
        max_tokens: bound of the output that the wire asks for where the selection has none; None
            if it leaves that to the provider.
        turns: digests of the conversation in the body, as far as later requests repeat it.
        cache_seconds: how long the provider keeps in its cache what nobody asks for again.
        head: where in the body ends what the provider can be asked to keep under a name, 0 if it
            cannot. It begins behind the first byte.
        cached: the name that stands in the body in place of the head; empty if the head does.
    """

    path: str
    body: bytes
    stable: int = 0
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    max_tokens: int | None = None
    turns: TurnDigests = field(default_factory=TurnDigests, compare=False)
    cache_seconds: float = CacheRetention.SHORT.seconds
    head: int = 0
    cached: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer of a provider.

    Attributes:
        usage: what the provider reported, or None.
        served_model: the model that answered, as the provider names it; empty if it said nothing.
        request_id: the provider's id of the answer, from its body; empty if it gave none.
    """

    completion: Completion
    usage: TokenUsage | None
    served_model: str = ""
    request_id: str = ""


class Decoder(Protocol):
    """Reads one answer, however its bytes are cut. Of no further use after an error."""

    @property
    def done(self) -> bool:
        """Whether the provider has said that nothing more comes: stop reading."""
        ...

    @property
    def settled(self) -> bool:
        """Whether nothing but figures such as the usage may still come before it is done."""
        ...

    @property
    def usage(self) -> TokenUsage | None:
        """What the provider has reported so far; also after a failure."""
        ...

    @property
    def text(self) -> str:
        """The visible text so far, for people; also after a failure."""
        ...

    def feed(self, chunk: bytes) -> Sequence[Delta]:
        """Take the next bytes and return what they show.

        Raises:
            ModelError: the provider reports a failure, or sends what is no answer. Behind deltas of
                the same bytes it is raised by `finish` instead, and the decoder is done.
        """
        ...

    def finish(self) -> Answer:
        """End the answer.

        Raises:
            ModelError: it ended early (`broken_stream`), is empty, or its calls cannot be told
                apart.
        """
        ...


class Wire(Protocol):
    """One provider protocol."""

    @property
    def media_types(self) -> Set[str]:
        """Media types of the attachments that it can carry."""
        ...

    def encode(self, request: ModelRequest, media: Media = NO_MEDIA) -> WireRequest:
        """Build the request, byte-stable in what earlier requests of the conversation had.

        Args:
            request: what to ask.
            media: the content of what `new_attachments` names, and what the model reads; an
                attachment without its content appears as a line of text.
        """
        ...

    def new_attachments(self, request: ModelRequest) -> Sequence[AttachmentPart]:
        """The attachments that encoding the request would show: what is not encoded yet."""
        ...

    def decoder(self, attempt_id: AttemptId) -> Decoder:
        """Make a decoder for the answer to one attempt."""
        ...

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """Explain an answer whose status is not 200.

        Args:
            status: HTTP status.
            headers: header fields, names in lower case.
            body: the beginning of the body, at most 64 KiB.
        """
        ...

    def authorization(self, secret: str) -> Mapping[str, str]:
        """The header fields that carry the credential."""
        ...
