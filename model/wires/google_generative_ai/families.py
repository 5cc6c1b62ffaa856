"""What the families of Gemini models do differently."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from agentslot.model.wires.reading import JsonObject
from agentslot.session import Reasoning

_LEVELS = {
    Reasoning.LOW: "LOW",
    Reasoning.MEDIUM: "MEDIUM",
    Reasoning.HIGH: "HIGH",
    Reasoning.XHIGH: "HIGH",
    Reasoning.MAX: "HIGH",
}
_BUDGETS = {
    Reasoning.LOW: 1_024,
    Reasoning.MEDIUM: 8_192,
    Reasoning.HIGH: 24_576,
    Reasoning.XHIGH: 24_576,
    Reasoning.MAX: 24_576,
}


@dataclass(frozen=True, slots=True)
class GeminiFamily:
    """How one family is asked to think, and what it checks.

    Attributes:
        levels: the level for each effort, from Gemini 3 on.
        budgets: tokens for each effort, as Gemini 2.5 wants it. With neither a model does not
            think, and asking it to is an error.
        signed_calls: whether a call without a signature is refused, though it be another model's.
        output_with_tools: whether a schema for the answer is taken together with tools.
    """

    levels: Mapping[Reasoning, str] = field(default_factory=dict[Reasoning, str])
    budgets: Mapping[Reasoning, int] = field(default_factory=dict[Reasoning, int])
    signed_calls: bool = False
    output_with_tools: bool = False

    def thinking(self, effort: Reasoning, *, show: bool) -> JsonObject:
        """The `thinkingConfig` of a request; empty if nothing is to be asked for."""
        asked: JsonObject = {}
        if effort in self.levels:
            asked["thinkingLevel"] = self.levels[effort]
        elif effort in self.budgets:
            asked["thinkingBudget"] = self.budgets[effort]
        if show and (self.levels or self.budgets):
            asked["includeThoughts"] = True
        return asked


_SILENT = GeminiFamily()
_BY_BUDGET = GeminiFamily(budgets=_BUDGETS)
_BY_LEVEL = GeminiFamily(levels=_LEVELS, signed_calls=True, output_with_tools=True)
_PRO_2_5 = replace(_BY_BUDGET, budgets={**_BUDGETS, Reasoning.XHIGH: 32_768, Reasoning.MAX: 32_768})
_PRO_3 = replace(_BY_LEVEL, levels={**_LEVELS, Reasoning.MEDIUM: "HIGH"})  # it has no MEDIUM

_NAME = re.compile(r"(?:^|/)gemini-(?:(\d+)(?:\.(\d+))?)?")


def family_of(model: str) -> GeminiFamily:
    """The family of a model by its name; one without a number is taken for the newest."""
    found = _NAME.search(model)
    if found is None:
        return _SILENT  # Gemma, or a model that somebody tuned
    is_pro = "-pro" in model
    version = (int(found[1] or 0), int(found[2] or 0))
    if version >= (3, 0) or not found[1]:
        return _PRO_3 if is_pro and version == (3, 0) else _BY_LEVEL
    if version >= (2, 5):
        return _PRO_2_5 if is_pro else _BY_BUDGET
    return _SILENT
