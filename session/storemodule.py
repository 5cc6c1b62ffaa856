"""A store that is open while its application runs, as a module."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from agentslot import Module, Registrar
from agentslot.session.durable import DurableStore
from agentslot.session.store import SESSION_STORE

S = TypeVar("S", bound=DurableStore[Any])  # Any: a medium keeps whatever it needs of a Session


class DurableStoreModule(Module, Generic[S]):
    """Fills `session.store` with a store on a medium, and owns it while the application runs."""

    def __init__(self, store: S) -> None:
        self.store = store

    def register(self, registrar: Registrar) -> None:
        """Fill `session.store`."""
        registrar.contribute(SESSION_STORE.set(self.store))

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Keep the store open.

        Raises:
            ClassifiedError: `unavailable/…`: another process has what only one may have, or it
                cannot be reached.
        """
        async with self.store:
            yield
