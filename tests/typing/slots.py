"""The types of slots, from declaration to look-up, with a Protocol as the value type."""

from collections.abc import Mapping
from typing import Protocol, assert_type

from agentslot import (
    Application,
    Assembly,
    AssemblyDescription,
    Chain,
    Contribution,
    Many,
    Module,
    One,
    Requirement,
    Resolver,
    Runtime,
)


class Tool(Protocol):
    def run(self, argument: str) -> str: ...


class Shell:
    def run(self, argument: str) -> str:
        return argument


class Broken:
    def walk(self) -> None: ...


ONE = One[Tool]("typing.one")
MANY = Many[Tool]("typing.many")
CHAIN = Chain[Tool]("typing.chain")


def declarations() -> None:
    assert_type(ONE, One[Tool])
    assert_type(MANY, Many[Tool])
    assert_type(CHAIN, Chain[Tool])


def contributions() -> None:
    assert_type(ONE.set(Shell()), Contribution)
    assert_type(ONE.set_default(Shell()), Contribution)
    assert_type(ONE.set_with(lambda resolver: Shell()), Contribution)
    assert_type(ONE.set_default_with(lambda resolver: resolver[MANY]["shell"]), Contribution)
    assert_type(ONE.set(Shell()).replacing_default(), Contribution)
    assert_type(MANY.add("shell", Shell()), Contribution)
    assert_type(MANY.add_default("shell", Shell()), Contribution)
    assert_type(MANY.add_with("shell", lambda resolver: Shell()), Contribution)
    assert_type(MANY.add_default_with("shell", lambda resolver: resolver[ONE]), Contribution)
    assert_type(CHAIN.append(Shell()), Contribution)
    assert_type(CHAIN.append_default(Shell()), Contribution)
    assert_type(CHAIN.append_with(lambda resolver: Shell()), Contribution)
    assert_type(CHAIN.append_default_with(lambda resolver: resolver[CHAIN][0]), Contribution)


def requirements() -> None:
    assert_type(ONE.required(), Requirement)
    assert_type(ONE.optional(), Requirement)
    assert_type(MANY.at_least(1), Requirement)
    assert_type(MANY.key("shell"), Requirement)
    assert_type(MANY.optional(), Requirement)
    assert_type(CHAIN.at_least(1), Requirement)
    assert_type(CHAIN.optional(), Requirement)


def resolving(resolver: Resolver) -> None:
    assert_type(resolver[ONE], Tool)
    assert_type(resolver[MANY], Mapping[str, Tool])
    assert_type(resolver[CHAIN], tuple[Tool, ...])
    assert_type(resolver.get(ONE), Tool | None)
    assert_type(resolver.get(MANY), Mapping[str, Tool])
    assert_type(resolver.get(CHAIN), tuple[Tool, ...])
    assert_type(resolver.key(MANY, "shell"), Tool)


def looking_up(assembly: Assembly) -> None:
    assert_type(assembly[ONE], Tool)
    assert_type(assembly[MANY], Mapping[str, Tool])
    assert_type(assembly[CHAIN], tuple[Tool, ...])
    assert_type(assembly.get(ONE), Tool | None)
    assert_type(assembly.get(MANY), Mapping[str, Tool])
    assert_type(assembly.get(CHAIN), tuple[Tool, ...])
    assert_type(assembly.describe(), AssemblyDescription)
    assert_type(assembly.fingerprint(), str)


async def running() -> None:
    application = Application("typing", [Module("a", ONE.set(Shell()))], [ONE.required()])
    assert_type(application.build(), Assembly)
    async with application.start() as runtime:
        assert_type(runtime, Runtime)
        assert_type(runtime.assembly, Assembly)
    assert_type(await application.run(), None)


def refused(assembly: Assembly, resolver: Resolver) -> None:
    """Each line is an error; a checker that finds none of them reports the comment instead."""
    ONE.set(Broken())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ONE.set([Shell()])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    MANY.add(1, Shell())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ONE.set_with(lambda r: Broken())  # type: ignore[arg-type, return-value]  # pyright: ignore[reportArgumentType]
    ONE.add("key", Shell())  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    MANY.set(Shell())  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    ONE.at_least(1)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    CHAIN.key("x")  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    resolver.key(ONE, "x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assembly["typing.one"]  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
    assembly[MANY]["x"] = Shell()  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
