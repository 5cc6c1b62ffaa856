"""The small vocabulary that the tests of the core compose, and ways to build with it."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Protocol

import pytest

from agentslot import (
    AgentSlotError,
    Application,
    Assembly,
    BuildFailed,
    Chain,
    Many,
    Module,
    One,
    Requirement,
)


class Generator(Protocol):
    def generate(self, prompt: str) -> str: ...


class Tool(Protocol):
    def run(self, argument: str) -> str: ...


class Echo:
    def generate(self, prompt: str) -> str:
        return prompt


class Shell:
    def run(self, argument: str) -> str:
        return argument


GENERATOR = One[Generator]("test.generator")
TOOLS = Many[Tool]("test.tool")
COUNT = One[int]("test.count")
NAMES = Many[str]("test.name")
WORDS = Chain[str]("test.word")


def untyped(value: object) -> Any:
    """What a program that no type checker has read may pass."""
    return value


def build(*modules: Module, requires: Iterable[Requirement] = ()) -> Assembly:
    return Application("test", modules, requires).build()


def problems(*modules: Module, requires: Iterable[Requirement] = ()) -> list[Exception]:
    """What a build reports, one problem or several."""
    with pytest.raises(AgentSlotError) as caught:
        build(*modules, requires=requires)
    error = caught.value
    return list(error.exceptions) if isinstance(error, BuildFailed) else [error]


def problem(*modules: Module, requires: Iterable[Requirement] = ()) -> Exception:
    """What a build reports, if that is one problem."""
    (only,) = problems(*modules, requires=requires)
    return only


class Journal(list[str]):
    """What happened, in order."""

    def module(self, name: str, *requires: Requirement, provides: bool = True) -> Module:
        """A module that writes its start and its stop, and fills a slot named after itself."""

        @asynccontextmanager
        async def lifespan() -> AsyncGenerator[None]:
            self.append(f"start {name}")
            try:
                yield
            except BaseException as error:
                self.append(f"{name} sees {type(error).__name__}")
                raise
            finally:
                self.append(f"stop {name}")

        filled = [place(name).set(0)] if provides else []
        return Module(name, *filled, requires=requires, lifespan=lifespan)


def place(name: str) -> One[int]:
    """The slot that the module of this name fills."""
    return One[int](f"test.place.{name}")
