"""How hard to think, in the words of each server."""

from agentslot._json import JsonValue
from agentslot.model.wires.openai_completions.profile import CompatibilityProfile
from agentslot.model.wires.reading import JsonObject, as_object
from agentslot.session import ModelConfig, Reasoning


def asked_thinking(profile: CompatibilityProfile, config: ModelConfig) -> JsonObject:
    """The members of a request that say whether and how hard to think, if it is to say so."""
    effort, budget = config.reasoning, _budget(profile, config)
    asked: JsonObject = {}
    if budget == 0:
        # Said once, and by the switch where there is one: Alibaba refuses a budget of 0.
        if profile.thinking_field:
            _put(asked, profile.thinking_field, value=False)
        elif profile.thinking_budget_field:
            _put(asked, profile.thinking_budget_field, 0)
        elif profile.reasoning_effort:
            _put(asked, profile.effort_field, "none")
        return asked
    if profile.thinking_field and (effort is not Reasoning.DEFAULT or budget):
        _put(asked, profile.thinking_field, value=True)
    if profile.thinking_budget_field and budget:
        _put(asked, profile.thinking_budget_field, budget)
    if profile.reasoning_effort and effort is not Reasoning.DEFAULT:
        _put(asked, profile.effort_field, effort.value)
    return asked


def _budget(profile: CompatibilityProfile, config: ModelConfig) -> int | None:
    """Tokens to think with; 0 for no thinking, None if nothing is said of it."""
    budget = profile.thinking_budgets.get(config.reasoning)
    if budget is None or config.max_tokens is None or not profile.thinking_budget_field:
        return budget
    # The answer comes out of the same bound, so half of it is left to that.
    return min(budget, config.max_tokens // 2)


def _put(members: JsonObject, path: str, value: JsonValue) -> None:
    """Set the member that a path names; each dot leads into an object."""
    name, _, inner = path.partition(".")
    if not inner:
        members[name] = value
        return
    nested = as_object(members.get(name))
    _put(nested, inner, value)
    members[name] = nested
