"""What an effort is worth in tokens, for models that are given a budget of thinking."""

from collections.abc import Mapping

from agentslot.session import Reasoning

THINKING_BUDGETS: Mapping[Reasoning, int] = {
    Reasoning.LOW: 2_048,
    Reasoning.MEDIUM: 8_192,
    Reasoning.HIGH: 16_384,
    Reasoning.XHIGH: 32_768,
    Reasoning.MAX: 65_536,
}
