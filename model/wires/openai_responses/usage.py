"""Token figures of the Responses API, whose totals include what they are made of."""

from agentslot._json import JsonValue
from agentslot.model.wires.reading import as_count, as_object
from agentslot.session import TokenUsage


def read_usage(value: JsonValue, service_tier: str) -> TokenUsage | None:
    """Read a `usage` object; None unless it has both input and output."""
    usage = as_object(value)
    prompt, output = as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens"))
    if prompt is None or output is None:
        return None
    read = as_object(usage.get("input_tokens_details"))
    written = as_object(usage.get("output_tokens_details"))
    cached = min(as_count(read.get("cached_tokens")) or 0, prompt)
    return TokenUsage(
        input=prompt,
        output=output,
        cached_input=cached,
        cache_write=min(as_count(read.get("cache_write_tokens")) or 0, prompt - cached),
        reasoning=min(as_count(written.get("reasoning_tokens")) or 0, output),
        total=max(as_count(usage.get("total_tokens")) or 0, prompt + output),
        service_tier=service_tier,
    )
