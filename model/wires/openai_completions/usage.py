"""Token figures: three places for cached tokens, and completions that leave out the thinking."""

from agentslot._json import JsonValue
from agentslot.model.wires.reading import as_count, as_object
from agentslot.session import TokenUsage


def read_usage(value: JsonValue, *, hour: bool = False) -> TokenUsage | None:
    """Read a `usage` object; None unless it has both input and output.

    An explicit zero is a figure, and the first place that has one wins.

    Args:
        value: the object.
        hour: what was written to the cache is kept for an hour, which servers do not say.
    """
    usage = as_object(value)
    prompt = as_count(usage.get("prompt_tokens"))
    completion = as_count(usage.get("completion_tokens"))
    if prompt is None or completion is None:
        return None
    input_details = as_object(usage.get("prompt_tokens_details"))
    output_details = as_object(usage.get("completion_tokens_details"))
    cached = _first(
        input_details.get("cached_tokens"),
        usage.get("prompt_cache_hit_tokens"),
        usage.get("cached_tokens"),
    )
    written = min(_first(input_details.get("cache_write_tokens")), max(prompt - cached, 0))
    reasoning = _first(output_details.get("reasoning_tokens"), usage.get("reasoning_tokens"))
    total = _first(usage.get("total_tokens"))
    if reasoning and total >= prompt + completion + reasoning:
        completion += reasoning  # xAI counts thinking beside the completion; the total tells
    return TokenUsage(
        input=prompt,
        output=completion,
        cached_input=min(cached, prompt),
        cache_write=written,
        cache_write_1h=written if hour else 0,
        reasoning=min(reasoning, completion),
        total=max(total, prompt + completion),
    )


def _first(*values: JsonValue) -> int:
    return next((count for value in values if (count := as_count(value)) is not None), 0)
