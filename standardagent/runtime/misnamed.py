"""Names of tools that fit none, which nobody would notice: told in the log as an agent is built."""

import logging
from collections.abc import Collection, Iterator

from agentslot._text import did_you_mean, near
from agentslot.standardagent.hook import Hooks
from agentslot.standardagent.policy import PolicyGuard

log = logging.getLogger(__name__)


def tell_misnamed(
    installed: Collection[str],
    offered: Collection[str],
    hooks: Hooks,
    guards: Collection[PolicyGuard],
) -> None:
    """Warn where tools are installed and none is offered, or a rule names one that is not there.

    A rule for a tool that another agent has is no mistake, so only names are told that are nearly
    those of tools of this one.
    """
    if installed and not offered:
        log.warning(
            "no tool is offered to the model: AgentConfig.tool_keys names none of %s",
            ", ".join(sorted(installed)),
        )
    known = {*installed, *offered}
    for who, names in _named(hooks, guards):
        for name in sorted(set(names) - known):
            if close := near(name, offered):
                log.warning("%s names %r, which is no tool here%s", who, name, did_you_mean(close))


def _named(hooks: Hooks, guards: Collection[PolicyGuard]) -> Iterator[tuple[str, Collection[str]]]:
    for preflight in hooks.tool_preflights:
        yield f"the scope of hook {preflight.descriptor.key!r}", preflight.scope.keys or ()
    for hook in hooks.tool_results:
        yield f"the scope of hook {hook.descriptor.key!r}", hook.scope.keys or ()
    for guard in guards:
        yield f"a rule of {type(guard).__name__}", getattr(guard, "named_tools", ())
