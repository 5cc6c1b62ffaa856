"""Modules as users write them pass strict checkers without a comment."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from agentslot import Module, One, Registrar

COUNT = One[int]("typing.count")


class Plain(Module):
    id = "typing.plain"
    requires = (COUNT.required(),)

    def register(self, registrar: Registrar) -> None:
        registrar.contribute(COUNT.set(1))

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        yield


class Configured(Module):
    def __init__(self, name: str) -> None:
        self.id = name
        self.requires = [COUNT.optional()]

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator["Configured"]:
        yield self


@asynccontextmanager
async def lifespan() -> AsyncGenerator[None]:
    yield


DECLARED = Module("typing.declared", COUNT.set(1), requires=[COUNT.optional()], lifespan=lifespan)
