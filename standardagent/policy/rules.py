"""Policies that come with AgentSlot: by the effect of a tool, or by its key."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from agentslot import Module
from agentslot.standardagent.policy.contract import (
    ALLOW,
    POLICY_GUARDS,
    Decision,
    PolicyEffect,
    PolicyGuard,
    ToolAction,
)
from agentslot.standardagent.policy.explain import Verdict
from agentslot.tool import Effect

_HARMLESS = (Effect.PURE, Effect.READ)


class Preset(StrEnum):
    """Ready-made stances.

    `read_only` denies whatever changes something; `ask_for_writes` asks before it; `trusted` lets
    everything run.
    """

    READ_ONLY = "read_only"
    ASK_FOR_WRITES = "ask_for_writes"
    TRUSTED = "trusted"


class EffectPolicy:
    """Decides by the worst that a tool can do."""

    def __init__(self, preset: Preset) -> None:
        self.preset = preset

    async def evaluate(self, action: ToolAction) -> Decision:
        """Allow what is harmless; treat the rest as the preset says."""
        return self.explain(action).decision

    def explain(self, action: ToolAction) -> Verdict:
        """The decision, and the preset that made it."""
        return Verdict(self._decide(action), f"preset {self.preset}")

    def _decide(self, action: ToolAction) -> Decision:
        if action.effect in _HARMLESS or self.preset is Preset.TRUSTED:
            return ALLOW
        what = f"{action.call.name} has the effect {action.effect!s}"
        if self.preset is Preset.READ_ONLY:
            return Decision(PolicyEffect.DENY, f"{what}, and this agent may only read")
        return Decision(PolicyEffect.REQUIRE_APPROVAL, what)


class ToolRules:
    """Decides by the key of the tool.

    Args:
        rules: a decision by tool key.
        fallback: what holds for every other tool.
    """

    def __init__(self, rules: Mapping[str, Decision], *, fallback: Decision) -> None:
        self._rules = MappingProxyType(dict(rules))
        self._fallback = fallback
        self.named_tools = frozenset(rules)

    async def evaluate(self, action: ToolAction) -> Decision:
        """The rule for the tool, or the fallback."""
        return self.explain(action).decision

    def explain(self, action: ToolAction) -> Verdict:
        """The decision, and whether the tool has a rule of its own."""
        name = action.call.name
        if name in self._rules:
            return Verdict(self._rules[name], f"rule for {name}")
        return Verdict(self._fallback, f"no rule for {name}")


def PolicyModule(policy: Preset | PolicyGuard) -> Module:  # noqa: N802 - like the other modules
    """A guard, or the guard that a preset names, as the module `policy`."""
    guard = EffectPolicy(policy) if isinstance(policy, Preset) else policy
    return Module("policy", POLICY_GUARDS.append(guard))
