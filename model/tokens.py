"""Counting with a vocabulary instead of by bytes."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

from agentslot._extras import require_extra
from agentslot._json import JsonError, JsonValue, loads
from agentslot.model.contract import ModelRequest, TokenCount

_PIECE = 20_000
_VOCABULARY = "o200k_base"
_MODELS = re.compile(r"gpt-4(?:o|\.1)(?:-mini)?(?:-\d{4}-\d\d-\d\d)?")
"""Those whose framing of messages is known, from requests and the figures reported for them."""
_FRAME = 4
"""Tokens around the text of a message: its start, its role, what parts them, and its end."""
_ANSWER = 3
"""Tokens with which the answer begins: the same without the end."""


class OpenAITokens:
    """Counts the tokens of a request by OpenAI's vocabulary, offline; needs the extra `tokens`.

    ```python
    OpenAIResponsesModule(["gpt-4.1-mini"]).counted_by(OpenAITokens())
    ```

    The count is exact for gpt-4o, gpt-4.1 and their mini forms, if nothing but texts is shown: no
    tool, no image, no wanted form of the answer. How OpenAI frames everything else is not public.
    So it is counted as the JSON that is sent, which is more than what the provider makes of it: an
    upper bound, about half of the one by bytes. Other vendors' vocabularies are secret.
    """

    def __init__(self, encoding: str = _VOCABULARY) -> None:
        """Count by `encoding`, which is that of all models since gpt-4o.

        Raises:
            MissingExtra: the package `bpe-openai` is not installed.
        """
        require_extra("OpenAITokens", "tokens", "bpe_openai")
        self._name = encoding

    def __call__(self, body: bytes, request: ModelRequest) -> TokenCount:
        """Tokens of a request; see Measure."""
        texts = _texts(body) if self._frames(request) else None
        if texts is None:
            return TokenCount(self.of(body.decode(errors="replace")))
        answer = _ANSWER if _is_whole(body) else 0  # what was reported has it already
        return TokenCount(sum(_FRAME + self.of(text) for text in texts) + answer, exact=True)

    def of(self, text: str) -> int:
        """Tokens of a text. The first call reads the vocabulary, which takes a quarter second."""
        return sum(len(self._encoding.encode_ordinary(piece)) for piece in _pieces(text))

    def _frames(self, request: ModelRequest) -> bool:
        """Whether it is known what stands around the texts of the request."""
        plain = not request.tools and request.output is None
        return plain and self._name == _VOCABULARY and bool(_MODELS.fullmatch(request.config.model))

    @cached_property
    def _encoding(self) -> Any:  # the package has no types
        return import_module("bpe_openai").get_encoding(self._name)


def _pieces(text: str) -> Iterator[str]:
    """The tokenizer refuses a long text whole; a cut costs at most a token."""
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]


_SILENT = frozenset(
    {"model", "stream", "stream_options", "store", "service_tier", "temperature", "stop"}
    | {"max_tokens", "max_completion_tokens", "max_output_tokens"}
    | {"prompt_cache_key", "prompt_cache_retention"}
)
"""What stands in the head of a request and is not shown to the model."""
_LABELS = frozenset({"type", "id", "status"})
"""What a message may have beside its role and text, and the model is not shown."""
_ROLES = frozenset({"system", "developer", "user", "assistant"})


def _is_whole(body: bytes) -> bool:
    """Whether it is a whole request, and not what follows a beginning that was reported."""
    return body.startswith(b'{"model":')


def _texts(body: bytes) -> Sequence[str] | None:
    """The texts of the messages of a request or its end; None if it shows anything else."""
    try:
        value = loads(body if _is_whole(body) else b"[" + body.lstrip(b",").removesuffix(b"}"))
    except JsonError:
        return None
    messages = _messages(value) if isinstance(value, dict) else value
    if not isinstance(messages, list):
        return None
    texts = [text for text in map(_text, messages) if text is not None]
    return texts if len(texts) == len(messages) else None


def _messages(request: dict[str, JsonValue]) -> JsonValue:
    """The messages of either wire, the instructions as one of them; None if there is more."""
    match {name: value for name, value in request.items() if name not in _SILENT}:
        case {"messages": list(messages), **more} | {"input": list(messages), **more} if not more:
            return messages
        case {"input": list(messages), "instructions": prompt, **more} if not more:
            return [{"role": "system", "content": prompt}, *messages]
        case _:
            return None


def _text(message: JsonValue) -> str | None:
    """The text of a message that has nothing else, if the vocabulary counts it exactly."""
    match message:
        case {"role": str(role), "content": str(text) | [{"text": str(text)}], **more} if (
            role in _ROLES and more.keys() <= _LABELS
        ):
            # A cut may cost a token, and what looks like a mark of the framing may be one.
            return text if 0 < len(text) <= _PIECE and "<|" not in text else None
        case _:
            return None
