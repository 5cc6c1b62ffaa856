"""Token figures: thoughts stand beside the answer, and results of the server's tools beside the
prompt; our figures have them inside.
"""

from agentslot._json import JsonValue
from agentslot.model.wires.reading import as_count, as_object
from agentslot.model.wires.servicetier import served_tier
from agentslot.session import TokenUsage


def read_usage(value: JsonValue) -> TokenUsage | None:
    """Read a `usageMetadata` object; None unless it has a prompt: some name the traffic alone."""
    usage = as_object(value)
    prompt = as_count(usage.get("promptTokenCount"))
    if prompt is None:
        return None
    from_tools, cached, candidates, thoughts, total = (
        as_count(usage.get(f"{name}TokenCount")) or 0
        for name in ("toolUsePrompt", "cachedContent", "candidates", "thoughts", "total")
    )
    read = prompt + from_tools
    output = candidates + thoughts
    return TokenUsage(
        input=read,
        output=output,
        cached_input=min(cached, read),
        reasoning=thoughts,
        total=max(total, read + output),
        service_tier=served_tier(usage.get("trafficType") or usage.get("serviceTier")),
    )
