"""Which model a Session uses, and what its calls consumed."""

import math
from dataclasses import dataclass
from enum import StrEnum


class Modality(StrEnum):
    """A kind of content that a model reads or writes."""

    TEXT = "text"
    IMAGE = "image"
    AUDIO = "audio"


class Reasoning(StrEnum):
    """How hard a model is asked to think; `default` leaves it to the provider."""

    DEFAULT = "default"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The selection of one model, frozen for a Run.

    Attributes:
        provider: key of the provider, such as `openai`.
        model: the provider's id of the model.
        reasoning: effort asked for.
        temperature: sampling temperature, or None to leave it to the provider.
        max_tokens: upper bound of output tokens of one call, or None.
        stop_sequences: texts before which an answer ends. A provider that knows none refuses them.

    Raises:
        ValueError: one of them cannot be asked of any model.
    """

    provider: str
    model: str
    reasoning: Reasoning = Reasoning.DEFAULT
    temperature: float | None = None
    max_tokens: int | None = None
    stop_sequences: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.reasoning not in Reasoning.__members__.values():
            efforts = ", ".join(Reasoning)
            msg = f"reasoning must be one of {efforts}, not {self.reasoning!r}"
            raise ValueError(msg)
        # A text that is merely spelled like an effort would be refused when it is stored.
        object.__setattr__(self, "reasoning", Reasoning(self.reasoning))
        if not self.model or self.model != self.model.strip():
            msg = f"model must be a trimmed, non-empty text, not {self.model!r}"
            raise ValueError(msg)
        if self.temperature is not None and not (
            math.isfinite(self.temperature) and self.temperature >= 0
        ):
            msg = f"temperature must be a finite number of at least 0, not {self.temperature}"
            raise ValueError(msg)
        if self.max_tokens is not None and self.max_tokens < 1:
            msg = f"max_tokens must be at least 1, not {self.max_tokens}"
            raise ValueError(msg)
        if isinstance(self.stop_sequences, str) or not all(self.stop_sequences):
            msg = f"stop_sequences must be a tuple of texts, not {self.stop_sequences!r}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one attempt; what is a part of another figure is never added to it again.

    A Session refuses figures of which one is negative, or a part larger than the whole.

    Attributes:
        input: all tokens of the request, cached and newly written ones included.
        cached_input: the part of `input` that came from the provider's cache.
        cache_write: the part of `input` that was written to the provider's cache.
        reasoning: the part of `output` that was thinking.
        total: at least input plus output.
        cache_write_1h: the part of `cache_write` that is kept for an hour, which costs more.
        service_tier: by which the provider served it, such as `flex` or `priority`; empty for the
            ordinary one, and in a sum of several.
        estimated: True when the provider reported nothing and we counted ourselves.
    """

    input: int = 0
    output: int = 0
    cached_input: int = 0
    cache_write: int = 0
    reasoning: int = 0
    total: int = 0
    estimated: bool = False
    cache_write_1h: int = 0
    service_tier: str = ""

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        tiers = {usage.service_tier for usage in (self, other) if usage.total}
        return TokenUsage(
            self.input + other.input,
            self.output + other.output,
            self.cached_input + other.cached_input,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
            self.total + other.total,
            self.estimated or other.estimated,
            self.cache_write_1h + other.cache_write_1h,
            tiers.pop() if len(tiers) == 1 else "",
        )
