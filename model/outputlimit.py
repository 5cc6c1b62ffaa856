"""How long an answer may be so that it still fits into the model's window."""

from agentslot.model.contract import ExecutionCapabilities

_MARGIN = 4_096
"""Tokens that are kept free, since the size of a request is an estimate; an eighth if that is less,
so that a small window is not all margin."""


def clamp_max_tokens(requested: int, capabilities: ExecutionCapabilities, expected: int) -> int:
    """The largest number of output tokens to ask for, at least 1.

    Args:
        requested: what the selection, or the wire by itself, would ask for.
        capabilities: the model's window and the largest output that it can write.
        expected: tokens that the request probably has.
    """
    window = capabilities.context_window_tokens
    available = window - expected - min(_MARGIN, window // 8)
    limit = min(requested, max(1, available))
    return min(limit, capabilities.max_output_tokens or limit)
