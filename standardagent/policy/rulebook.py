"""Rules about calls: by tool, effect, arguments, path and host. The first one that fits decides."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from agentslot._json import JsonValue, dumps
from agentslot._text import several
from agentslot.standardagent.policy.contract import Decision, PolicyEffect, ToolAction
from agentslot.standardagent.policy.explain import Verdict
from agentslot.standardagent.policy.places import (
    CaseMatters,
    PathCondition,
    RootFolders,
    Roots,
    holds,
)
from agentslot.tool import Effect, ToolFailedError
from agentslot.tool.arguments import parse_arguments
from agentslot.tool.files import case_matters

Test = Callable[[ToolAction, Mapping[str, JsonValue]], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What holds for some calls. Every condition that is given must fit; without any, all calls do.

    Attributes:
        then: `allow`, `deny` or `require_approval`.
        reason: why, in words the model may read; needed unless it allows.
        tools: names of tools, with `*` for any characters: `file_*`.
        effects: effects of tools.
        arguments: a regular expression by argument name, which the whole argument must match; one
            that is no text is compared as JSON. An argument that is left out matches nothing.
        paths: patterns such as `src/**` or `*.env` for the argument `path`, read as it is written:
            `.` and `..` are resolved, links are not, and names are compared as the disk does it. A
            tool that walks reaches what lies below.
        hosts: hosts of the argument `url`; `*.example.com` stands for those below example.com.

    A path or URL that cannot be placed, such as one that leads outside, fits no rule that allows
    and every rule that does not.
    """

    then: PolicyEffect
    reason: str = ""
    tools: Collection[str] = ()
    effects: Collection[Effect] = ()
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    paths: Collection[str] = ()
    hosts: Collection[str] = ()

    def __post_init__(self) -> None:
        for name in ("tools", "effects", "paths", "hosts"):
            several(name, getattr(self, name))
        _decision(self)  # tells of a missing reason where the rule is written


class Rulebook:
    """A guard that goes through rules in order.

    To deny a place, deny it first and allow what is around it later. Names are compared exactly,
    except in a root folder whose disk takes upper and lower case for each other: there a rule fits
    a name in any case.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        *,
        fallback: Decision,
        root: Roots | None = None,
        case_matters: CaseMatters = case_matters,
    ) -> None:
        """Set up the guard.

        Args:
            rules: the first one that fits decides.
            fallback: what holds if none does.
            root: the root folder of the file tools, so that absolute paths below it are understood;
                several, if tools have different ones; or the folders of workspaces by agent and
                workspace, as LocalWorkspaces is given them. A path that may be meant for several
                of them has to fit in all to be allowed, and in one for every other rule.
            case_matters: whether the disk tells upper from lower case in a folder; each root is
                looked at once, now, and nothing is written.

        Raises:
            ToolFailedError: a path pattern is malformed.
            re.error: an argument pattern is.
        """
        roots = RootFolders(root, case_matters)
        self._rules = [(_decision(rule), _conditions(rule, roots)) for rule in rules]
        self._fallback = fallback
        names = {name for rule in rules for name in rule.tools if "*" not in name}
        self.named_tools = frozenset(names)

    async def evaluate(self, action: ToolAction) -> Decision:
        """The decision of the first rule that fits."""
        return self.explain(action).decision

    def explain(self, action: ToolAction) -> Verdict:
        """The decision, and the number of the rule that made it."""
        arguments = _arguments(action)
        for number, (decision, conditions) in enumerate(self._rules, 1):
            if all(fits(action, arguments) for fits in conditions):
                paths = (each for each in conditions if isinstance(each, PathCondition))
                exact = all(path.exactly(action, arguments) for path in paths)
                how = "" if exact else "; the disk takes upper and lower case for each other"
                return Verdict(decision, f"rule {number} of {len(self._rules)}{how}")
        return Verdict(self._fallback, "no rule fits")


def _decision(rule: Rule) -> Decision:
    return Decision(rule.then, rule.reason)


def _conditions(rule: Rule, roots: RootFolders) -> list[Test]:
    tests: list[Test] = []
    if rule.tools:
        names = re.compile("|".join(_starred(name) for name in rule.tools), re.DOTALL)
        tests.append(lambda action, _: names.fullmatch(action.call.name) is not None)
    if rule.effects:
        tests.append(lambda action, _: action.effect in rule.effects)
    for name, pattern in rule.arguments.items():
        tests.append(_argument_test(name, re.compile(pattern, re.DOTALL)))
    if rule.paths:
        tests.append(PathCondition(rule.paths, roots, rule.then))
    if rule.hosts:
        tests.append(_host_test([_host_filter(host) for host in rule.hosts], rule.then))
    return tests


def _host_test(filters: Sequence[Callable[[str], bool]], then: PolicyEffect) -> Test:
    def fits(_action: ToolAction, arguments: Mapping[str, JsonValue]) -> bool:
        if "url" not in arguments:
            return False
        url = arguments["url"]
        host = _host(url) if isinstance(url, str) else None
        return holds(then, [] if host is None else [any(matches(host) for matches in filters)])

    return fits


def _argument_test(name: str, pattern: re.Pattern[str]) -> Test:
    def fits(_action: ToolAction, arguments: Mapping[str, JsonValue]) -> bool:
        if name not in arguments:
            return False
        value = arguments[name]
        text = value if isinstance(value, str) else dumps(value)
        return pattern.fullmatch(text) is not None

    return fits


def _starred(pattern: str) -> str:
    return ".*".join(map(re.escape, pattern.split("*")))


def _host_filter(pattern: str) -> Callable[[str], bool]:
    matches = re.compile(_starred(pattern.lower()), re.DOTALL).fullmatch
    return lambda host: matches(host) is not None


def _arguments(action: ToolAction) -> Mapping[str, JsonValue]:
    """The arguments as the tool will read them; none if they are no object, which no tool takes."""
    try:
        return parse_arguments(action.call.arguments)
    except ToolFailedError:
        return {}


def _host(text: str) -> str | None:
    try:
        host = urlsplit(text).hostname
    except ValueError:
        return None
    return None if host is None else host.rstrip(".")
