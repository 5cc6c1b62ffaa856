"""Counting with a vocabulary instead of by bytes."""

from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import Any

from agentslot._extras import require_extra

_PIECE = 20_000


class OpenAITokens:
    """Counts the tokens of a text by OpenAI's vocabulary, offline; needs the extra `tokens`.

    ```python
    OpenAIResponsesModule(["gpt-5-mini"]).counted_by(OpenAITokens())
    ```

    The text of a request is counted exactly. What stands around it is counted as the JSON that is
    sent, which is more than the few tokens that the provider makes of it: so the whole remains an
    upper bound, about half of the one by bytes. Other vendors' vocabularies are secret.
    """

    def __init__(self, encoding: str = "o200k_base") -> None:
        """Count by `encoding`, which is that of all models since gpt-4o.

        Raises:
            MissingExtra: the package `bpe-openai` is not installed.
        """
        require_extra("OpenAITokens", "tokens", "bpe_openai")
        self._name = encoding

    def __call__(self, text: bytes) -> int:
        """Tokens of a text. The first call reads the vocabulary, which takes a quarter second."""
        return sum(len(self._encoding.encode_ordinary(piece)) for piece in _pieces(text))

    @cached_property
    def _encoding(self) -> Any:  # the package has no types
        return import_module("bpe_openai").get_encoding(self._name)


def _pieces(text: bytes) -> Iterator[str]:
    """The tokenizer refuses a long text whole; a cut costs at most a token."""
    whole = text.decode(errors="replace")
    for start in range(0, len(whole), _PIECE):
        yield whole[start : start + _PIECE]
