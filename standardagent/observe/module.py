"""The hub as a module: it starts before the Runtime, and stops when the last Run has ended."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from agentslot import Module, One, Registrar, Resolver
from agentslot.standardagent.observe.contract import (
    AUDIT_SINKS,
    METRIC_SINKS,
    TRACE_SINKS,
    USAGE_RECORDERS,
)
from agentslot.standardagent.observe.hub import ObservationHub

OBSERVATION_HUB = One[ObservationHub]("standardagent.internal.observation-hub")
"""Anchor of the hub inside the Assembly; read there how many records were dropped."""


class ObservationModule(Module):
    """Resolves the sinks and delivers to them while the application runs."""

    id = "standardagent.internal.observation"
    requires = (
        TRACE_SINKS.optional(),
        METRIC_SINKS.optional(),
        AUDIT_SINKS.optional(),
        USAGE_RECORDERS.optional(),
    )

    def __init__(self) -> None:
        self._hub = ObservationHub()

    def register(self, registrar: Registrar) -> None:
        """Contribute the hub."""
        registrar.contribute(OBSERVATION_HUB.set_with(self._resolve))

    def _resolve(self, resolver: Resolver) -> ObservationHub:
        self._hub = ObservationHub(
            resolver[TRACE_SINKS],
            resolver[METRIC_SINKS],
            resolver[AUDIT_SINKS],
            resolver[USAGE_RECORDERS],
        )
        return self._hub

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Deliver."""
        async with self._hub.delivering():
            yield
