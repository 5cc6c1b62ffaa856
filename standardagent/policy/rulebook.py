"""Rules about calls: by tool, effect, arguments, path and host. The first one that fits decides."""

import posixpath
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from urllib.parse import urlsplit

from agentslot._json import JsonValue, dumps
from agentslot.standardagent.policy.contract import Decision, PolicyEffect, ToolAction
from agentslot.standardagent.policy.explain import Verdict
from agentslot.tool import Effect, ToolFailedError
from agentslot.tool.arguments import parse_arguments
from agentslot.tool.files import path_filter, plain_path

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
            `.` and `..` are resolved, links are not. A tool that walks reaches what lies below.
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
        _decision(self)  # tells of a missing reason where the rule is written


class Rulebook:
    """A guard that goes through rules in order.

    A pattern is compared exactly, upper and lower case told apart. To deny a place, deny it first
    and allow what is around it later.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        *,
        fallback: Decision,
        root: str | PurePath | None = None,
    ) -> None:
        """Set up the guard.

        Args:
            rules: the first one that fits decides.
            fallback: what holds if none does.
            root: the root folder of the file tools, so that absolute paths below it are understood.

        Raises:
            ToolFailedError: a path pattern is malformed.
            re.error: an argument pattern is.
        """
        folder = None if root is None else str(root)
        self._rules = [(_decision(rule), _conditions(rule, folder)) for rule in rules]
        self._fallback = fallback

    async def evaluate(self, action: ToolAction) -> Decision:
        """The decision of the first rule that fits."""
        return self.explain(action).decision

    def explain(self, action: ToolAction) -> Verdict:
        """The decision, and the number of the rule that made it."""
        arguments = _arguments(action)
        for number, (decision, conditions) in enumerate(self._rules, 1):
            if all(fits(action, arguments) for fits in conditions):
                return Verdict(decision, f"rule {number} of {len(self._rules)}")
        return Verdict(self._fallback, "no rule fits")


def _decision(rule: Rule) -> Decision:
    return Decision(rule.then, rule.reason)


def _conditions(rule: Rule, root: str | None) -> list[Test]:
    tests: list[Test] = []
    if rule.tools:
        names = re.compile("|".join(_starred(name) for name in rule.tools), re.DOTALL)
        tests.append(lambda action, _: names.fullmatch(action.call.name) is not None)
    if rule.effects:
        tests.append(lambda action, _: action.effect in rule.effects)
    for name, pattern in rule.arguments.items():
        tests.append(_argument_test(name, re.compile(pattern, re.DOTALL)))
    if rule.paths:
        filters = [path_filter(pattern) for pattern in rule.paths]
        tests.append(_place_test("path", lambda text: _path(text, root), filters, rule.then))
    if rule.hosts:
        hosts = [_host_filter(host) for host in rule.hosts]
        tests.append(_place_test("url", _host, hosts, rule.then))
    return tests


def _place_test(
    name: str,
    read: Callable[[str], str | None],
    filters: Sequence[Callable[[str], bool]],
    then: PolicyEffect,
) -> Test:
    def fits(_action: ToolAction, arguments: Mapping[str, JsonValue]) -> bool:
        if name not in arguments:
            return False
        value = arguments[name]
        place = read(value) if isinstance(value, str) else None
        if place is None:
            return then is not PolicyEffect.ALLOW
        return any(matches(place) for matches in filters)

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


def _path(text: str, root: str | None) -> str | None:
    """The path from the root folder that a tool would go; None if it leads elsewhere."""
    path = posixpath.normpath(plain_path(text))
    if path.startswith("/"):
        folder = None if root is None else posixpath.normpath(root)
        if folder is None or not f"{path}/".startswith(f"{folder}/"):
            return None
        path = path[len(folder) :].lstrip("/") or "."
    return None if path == ".." or path.startswith("../") else path


def _host(text: str) -> str | None:
    try:
        host = urlsplit(text).hostname
    except ValueError:
        return None
    return None if host is None else host.rstrip(".")
