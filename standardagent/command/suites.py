"""The conformance suites that `agentslot conformance` runs: one row of a table for each contract.

A row says how the component under test is made of a TARGET, and gives the suite's checks. A suite
itself knows nothing of the command: it consists of plain async functions that anybody can run.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar, cast

from agentslot._conformance import Suite as Referee
from agentslot._conformance import run_check
from agentslot.model import conformance as model
from agentslot.session import conformance as session
from agentslot.standardagent import conformance as parts
from agentslot.standardagent.command.failure import CommandError, UsageError
from agentslot.standardagent.command.target import call_target
from agentslot.standardagent.goal import conformance as goal
from agentslot.tool import conformance as tool


@dataclass(frozen=True, slots=True)
class Target:
    """What a person wants to be judged: an object, and how it was named."""

    name: str
    value: object

    def takes(self, *arguments: object) -> bool:
        """Whether it can be called with these."""
        if not callable(self.value):
            return False
        try:
            signature(self.value).bind(*arguments)
        except (TypeError, ValueError):
            return False
        return True

    def takes_path(self) -> bool:
        """Whether it can be called with one argument, which it calls `path`."""
        if not callable(self.value) or not self.takes(Path()):
            return False
        return next(iter(signature(self.value).parameters)) == "path"

    def make(self, path: Path) -> object:
        """Call it: with the path if it takes one.

        Raises:
            CommandError: it raised.
        """
        arguments = (path,) if self.takes(path) else ()
        return call_target(self.name, self.value, *arguments)


@dataclass(frozen=True, slots=True)
class Case:
    """One check, ready to run on a path of its own where nothing is yet.

    Attributes:
        not_checked: why it does not apply to this target; it is not run then.
    """

    name: str
    run: Callable[[Path], Awaitable[None]]
    not_checked: str = ""


@dataclass(frozen=True, slots=True)
class Suite:
    """The referee of one contract.

    Attributes:
        contract: name and version of what is checked.
        target: what a TARGET has to be, in words for people.
    """

    contract: str
    target: str
    cases: Callable[[Target], Iterator[Case]]


C = TypeVar("C")
Opening = Callable[[], AbstractAsyncContextManager[Any]]  # Any: of whichever kind is judged


def _store(
    target: Target,
    checks: Sequence[C],
    durability_checks: Sequence[C],
    run_check: Callable[[C, Opening], Awaitable[None]],
) -> Iterator[Case]:
    @asynccontextmanager
    async def opened(store: object) -> AsyncGenerator[Any]:
        """The store, entered if it can be entered: a store, or something that opens one."""
        if isinstance(store, AbstractAsyncContextManager):
            async with cast("AbstractAsyncContextManager[Any]", store) as entered:
                yield entered
        else:
            yield store

    async def judge(check: C, path: Path) -> None:
        await run_check(check, lambda: opened(target.make(path)))

    takes_a_path = target.takes(Path())
    if not takes_a_path and not target.takes():
        raise UsageError(f"{target.name!r} makes no store: it must take a path, or nothing")
    forgets = "" if takes_a_path else "it takes no path, so it cannot be opened again"
    for check in checks:
        yield Case(_name(check), partial(judge, check))
    for check in durability_checks:
        yield Case(_name(check), partial(judge, check), forgets)


def _session_store(target: Target) -> Iterator[Case]:
    return _store(target, session.CHECKS, session.DURABILITY_CHECKS, session.run_check)


def _goal_store(target: Target) -> Iterator[Case]:
    return _store(target, goal.CHECKS, goal.DURABILITY_CHECKS, goal.run_check)


def _artifact_store(target: Target) -> Iterator[Case]:
    async def judge(check: session.ArtifactCheck, opened: Opening) -> None:
        async with opened() as store:
            await run_check("the store", check, store)

    return _store(target, session.ARTIFACT_CHECKS, (), judge)


def _name(check: object) -> str:
    return getattr(check, "__name__", repr(check))


def _model_executor(target: Target) -> Iterator[Case]:
    return _on_stages(target, model.CHECKS, model.run_check)


def _model_provider(target: Target) -> Iterator[Case]:
    async def judge(
        check: Callable[[model.OpenProvider], Awaitable[None]], opened: model.OpenProvider
    ) -> None:
        await check(opened)

    return _on_stages(target, model.MODEL_PROVIDER_SUITE.checks, judge)


def _on_stages(
    target: Target,
    checks: Sequence[C],
    run_check: Callable[[C, Any], Awaitable[None]],  # Any: what opens either kind of stage
) -> Iterator[Case]:
    """The checks of what is opened before a provider, or a server, that plays scenes."""

    async def judge(check: C, path: Path) -> None:
        del path  # it keeps nothing
        await run_check(check, target.value)

    if not target.takes(model.Scene.ANSWER, model.Scene.CALL):
        raise UsageError(f"{target.name!r} opens no stage: it must take any number of scenes")
    for check in checks:
        yield Case(_name(check), partial(judge, check))


def _maker(target: Target) -> Callable[[Path], Any]:  # Any: of whichever kind is judged
    """What makes a component of a path or of nothing."""
    keeps = target.takes_path()
    if not keeps and not target.takes():
        problem = f"{target.name!r} makes nothing: it must take no argument, or `path` alone"
        raise UsageError(problem)
    return lambda path: call_target(target.name, target.value, *([path] if keeps else []))


def _with(suite: Referee[Callable[[], Any]], target: Target) -> Iterator[Case]:
    """The checks of a suite that makes its subject itself, as often as it needs one."""
    make = _maker(target)

    async def judge(check: Callable[[Callable[[], Any]], Awaitable[None]], path: Path) -> None:
        await check(partial(make, path))

    for check in suite.checks:
        yield Case(_name(check), partial(judge, check))


def _tool(target: Target) -> Iterator[Case]:
    make = _maker(target)

    async def judge(check: tool.Check, path: Path) -> None:
        match make(path):
            case subject, tool.Trial() as trial:
                await run_check("the tool", check, subject, trial)
            case made:
                kind = type(made).__name__
                raise CommandError(f"{target.name!r} made a {kind}, not a tool and a Trial")

    for check in tool.CHECKS:
        yield Case(_name(check), partial(judge, check))


def _tool_middleware(target: Target) -> Iterator[Case]:
    make = _maker(target)

    async def judge(check: tool.MiddlewareCheck, path: Path) -> None:
        await run_check("the middleware", check, make(path))

    for check in tool.MIDDLEWARE_CHECKS:
        yield Case(_name(check), partial(judge, check))


def _of_component(suite: Referee[Callable[[], Any]]) -> Suite:
    return Suite(suite.contract, _COMPONENT, partial(_with, suite))


_COMPONENT = (
    "a class or function that makes the component, or a Module that brings it, of nothing, or of"
    " the argument `path`, where it may keep something. It is called for each application anew."
)
_COMPONENTS: tuple[Referee[Callable[[], Any]], ...] = (
    parts.AGENT_LOOP_SUITE,
    parts.AGENT_HOOK_SUITE,
    parts.INPUT_GATE_SUITE,
    parts.TOOL_PREFLIGHT_SUITE,
    parts.TOOL_RESULT_SUITE,
    parts.COMPLETION_GATE_SUITE,
    parts.SESSION_LIFECYCLE_SUITE,
    parts.POLICY_GUARD_SUITE,
    parts.CONTEXT_SOURCE_SUITE,
    parts.CONTEXT_COMPACTOR_SUITE,
    parts.TRACE_SINK_SUITE,
    parts.METRIC_SINK_SUITE,
    parts.AUDIT_SINK_SUITE,
    parts.USAGE_RECORDER_SUITE,
    parts.COMMIT_OBSERVER_SUITE,
    parts.ATTEMPT_OBSERVER_SUITE,
)

_A_STORE = (
    "a class or function that makes a store: of a path (equal paths are one storage, a new path"
    " is fresh storage), or of nothing. What it returns is entered with `async with` if it can"
    " be. One that takes no path is not asked to remember anything."
)

SUITES: dict[str, Suite] = {
    **{suite.contract.partition("/")[0]: _of_component(suite) for suite in _COMPONENTS},
    "approval.service": Suite(
        parts.APPROVAL_SERVICE_SUITE.contract,
        "a function that opens, with `async with`, an `Approver` of"
        " `agentslot.standardagent.conformance`: a service, and somebody who answers.",
        partial(_with, parts.APPROVAL_SERVICE_SUITE),
    ),
    "goal.evaluator": Suite(
        parts.GOAL_EVALUATOR_SUITE.contract,
        f"{_COMPONENT} One that asks a model brings an executor that answers as its model does.",
        partial(_with, parts.GOAL_EVALUATOR_SUITE),
    ),
    "credential.resolver": Suite(
        parts.CREDENTIAL_RESOLVER_SUITE.contract,
        "a function that opens, with `async with`, a `Resolving` of"
        " `agentslot.standardagent.conformance`: a resolver, and a credential that it has.",
        partial(_with, parts.CREDENTIAL_RESOLVER_SUITE),
    ),
    "model.catalog": Suite(
        parts.MODEL_CATALOG_SUITE.contract,
        "a class or function that makes the catalog, of nothing or of the argument `path`.",
        partial(_with, parts.MODEL_CATALOG_SUITE),
    ),
    "model.middleware": Suite(
        model.MODEL_MIDDLEWARE_SUITE.contract,
        "a class or function that makes the middleware, of nothing or of the argument `path`. It"
        " stands before a provider `conformance` that has every model.",
        partial(_with, model.MODEL_MIDDLEWARE_SUITE),
    ),
    "model.selector": Suite(
        parts.MODEL_SELECTOR_SUITE.contract,
        "a function that returns a selector, and a `ModelConfig` that it allows.",
        partial(_with, parts.MODEL_SELECTOR_SUITE),
    ),
    "workspace.manager": Suite(
        parts.WORKSPACE_MANAGER_SUITE.contract,
        "a function of nothing, or of the argument `path`, that returns a manager, and a"
        " `WorkspaceScope` that it knows.",
        partial(_with, parts.WORKSPACE_MANAGER_SUITE),
    ),
    "model.token-counter": Suite(
        model.TOKEN_COUNTER_SUITE.contract,
        "a function that opens, with `async with`, a `Counting` of `agentslot.model.conformance`:"
        " a counter, and a model whose requests it counts.",
        partial(_with, model.TOKEN_COUNTER_SUITE),
    ),
    "model.executor": Suite(
        model.CONTRACT,
        "a function that takes scenes of `agentslot.model.conformance` and opens a stage, with"
        " `async with`: an executor in front of a provider that plays them.",
        _model_executor,
    ),
    "model.provider": Suite(
        model.MODEL_PROVIDER_SUITE.contract,
        "a function that takes scenes of `agentslot.model.conformance` and opens a"
        " `ProviderStage`, with `async with`: a provider in front of a server that plays them.",
        _model_provider,
    ),
    "gateway.channel": Suite(
        parts.GATEWAY_CHANNEL_SUITE.contract,
        "a function that opens, with `async with`, a `Calling` of"
        " `agentslot.standardagent.conformance`: a channel, and somebody who speaks through it.",
        partial(_with, parts.GATEWAY_CHANNEL_SUITE),
    ),
    "interaction.command": Suite(
        parts.INTERACTION_COMMAND_SUITE.contract,
        "a class or function that makes a command, or a Module that brings it, of nothing, or of"
        " the argument `path`; or a function that returns that and, as a mapping, arguments that it"
        " can carry out.",
        partial(_with, parts.INTERACTION_COMMAND_SUITE),
    ),
    "execution.environment": Suite(
        tool.EXECUTION_ENVIRONMENT_SUITE.contract,
        "a class or function that makes the environment, of nothing or of the argument `path`."
        " Commands of `sh` are run in it, in folders below that for temporary files.",
        partial(_with, tool.EXECUTION_ENVIRONMENT_SUITE),
    ),
    "tool": Suite(
        tool.CONTRACT,
        "a function of nothing, or of the argument `path`, that returns a tool and a `Trial` of"
        " `agentslot.tool.conformance`: a call that it can carry out.",
        _tool,
    ),
    "tool.middleware": Suite(
        tool.MIDDLEWARE_CONTRACT,
        "a class or function that makes the middleware, of nothing or of the argument `path`.",
        _tool_middleware,
    ),
    "session.store": Suite(session.CONTRACT, _A_STORE, _session_store),
    "goal.store": Suite(goal.CONTRACT, _A_STORE, _goal_store),
    "artifact.store": Suite(session.ARTIFACT_CONTRACT, _A_STORE, _artifact_store),
}
