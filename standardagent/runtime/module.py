"""The fixed Runtime as a module: resolves the components, opens the Gateway while it runs."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import anyio

from agentslot import InvalidContribution, Module, One, Registrar, Resolver
from agentslot.interaction import GATEWAY_ACCESS, INTERACTION_COMMANDS
from agentslot.model import (
    ATTEMPT_OBSERVER,
    MODEL_CATALOG,
    MODEL_EXECUTOR,
    MODEL_SELECTOR,
    TOKEN_COUNTER,
    ProviderExecutor,
)
from agentslot.session import (
    ARTIFACT_STORE,
    SESSION_STORE,
    WORKSPACE_MANAGER,
    ModelConfig,
    is_identity,
)
from agentslot.standardagent.config import AgentConfig
from agentslot.standardagent.context import CONTEXT_COMPACTOR, CONTEXT_SOURCES, ContextSource
from agentslot.standardagent.gateway.access import Gateway
from agentslot.standardagent.goal import GOAL_EVALUATOR, GOAL_STORE
from agentslot.standardagent.goal.installed import install_goals
from agentslot.standardagent.hook import HOOK_SLOTS, install_hooks
from agentslot.standardagent.loop import AGENT_LOOP
from agentslot.standardagent.observe import COMMIT_OBSERVERS, OBSERVATION_HUB
from agentslot.standardagent.policy import APPROVAL_DESK, APPROVAL_SERVICE, POLICY_GUARDS
from agentslot.standardagent.runtime.commands import install_commands
from agentslot.standardagent.runtime.components import Components
from agentslot.standardagent.runtime.ids import Ids
from agentslot.standardagent.runtime.misnamed import tell_misnamed
from agentslot.standardagent.runtime.registry import Registry
from agentslot.standardagent.runtime.toolset import exposed_tools
from agentslot.tool import TOOL_MIDDLEWARE, TOOLS

RUNTIME_STATE = One[Components]("standardagent.internal.runtime-state")
"""Anchor of the fixed Runtime inside the Assembly; not a slot for users to fill."""


class RuntimeModule(Module):
    """Owns the Gateway and, while the application runs, every open Session."""

    id = "standardagent.internal.runtime"

    def __init__(self, config: AgentConfig, default_model: ModelConfig) -> None:
        self._config = config
        self._default_model = default_model
        self._gateway = Gateway()
        self._components: Components | None = None
        self.requires = (
            SESSION_STORE.required(),
            MODEL_EXECUTOR.required(),
            TOKEN_COUNTER.required(),
            MODEL_SELECTOR.optional(),
            AGENT_LOOP.required(),
            TOOLS.optional(),
            *(TOOLS.key(key) for key in config.tool_keys),
            TOOL_MIDDLEWARE.optional(),
            POLICY_GUARDS.optional(),
            CONTEXT_SOURCES.optional(),
            CONTEXT_COMPACTOR.optional(),
            ARTIFACT_STORE.optional(),
            WORKSPACE_MANAGER.optional(),
            APPROVAL_SERVICE.optional(),
            APPROVAL_DESK.optional(),
            ATTEMPT_OBSERVER.optional(),
            OBSERVATION_HUB.required(),
            COMMIT_OBSERVERS.optional(),
            INTERACTION_COMMANDS.optional(),
            MODEL_CATALOG.optional(),
            GOAL_STORE.optional(),
            GOAL_EVALUATOR.optional(),
            *(slot.optional() for slot in HOOK_SLOTS),
        )

    def register(self, registrar: Registrar) -> None:
        """Contribute the two anchors."""
        registrar.contribute(
            RUNTIME_STATE.set_with(self._resolve), GATEWAY_ACCESS.set(self._gateway)
        )

    def _resolve(self, resolver: Resolver) -> Components:
        tools = exposed_tools({key: resolver.key(TOOLS, key) for key in self._config.tool_keys})
        executor, counter = resolver[MODEL_EXECUTOR], resolver[TOKEN_COUNTER]
        self._components = Components(
            store=resolver[SESSION_STORE],
            executor=executor,
            counter=counter,
            counts_apart=_counts_apart(counter, executor),
            selector=resolver.get(MODEL_SELECTOR),
            loop=resolver[AGENT_LOOP],
            tools=tools,
            guards=resolver[POLICY_GUARDS],
            approval=resolver.get(APPROVAL_SERVICE),
            desk=resolver.get(APPROVAL_DESK),
            attempt_observers=resolver[ATTEMPT_OBSERVER],
            observation=resolver[OBSERVATION_HUB],
            commit_observers=resolver[COMMIT_OBSERVERS],
            config=self._config,
            default_model=self._default_model,
            ids=Ids(),
            hooks=install_hooks(resolver),
            deferred=frozenset(key for key, tool in tools.items() if tool.deferred),
            tool_middleware=resolver[TOOL_MIDDLEWARE],
            context_sources=_with_distinct_keys(resolver[CONTEXT_SOURCES]),
            compactor=resolver.get(CONTEXT_COMPACTOR),
            artifacts=resolver.get(ARTIFACT_STORE),
            goals=install_goals(resolver),
            commands=install_commands(resolver),
            catalogs=resolver[MODEL_CATALOG],
            workspaces=resolver.get(WORKSPACE_MANAGER),
        )
        parts = self._components
        tell_misnamed(resolver[TOOLS], parts.tools, parts.hooks, parts.guards)
        return parts

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Run: Sessions live in this task group; leaving it ends every Run durably first."""
        assert self._components is not None
        async with anyio.create_task_group() as tasks:
            registry = Registry(self._components, tasks)
            self._gateway.attach(self._components, registry)
            try:
                yield
            finally:
                self._gateway.detach()
                with anyio.CancelScope(shield=True):
                    await registry.stop()


def _counts_apart(counter: object, executor: object) -> bool:
    offline = isinstance(counter, ProviderExecutor) and counter.counts_offline
    return counter is not executor and not offline


def _with_distinct_keys(sources: Sequence[ContextSource]) -> Sequence[ContextSource]:
    keys = [source.key for source in sources]
    if len(set(keys)) != len(keys) or not all(map(is_identity, keys)):
        raise InvalidContribution(
            f"the context sources have the keys {', '.join(map(repr, keys))}",
            fix="give each one a trimmed, non-empty key of its own",
            slot=CONTEXT_SOURCES.id,
        )
    return sources
