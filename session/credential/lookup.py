"""Resolvers that look a record up: in memory, in the environment, in one place after another."""

import os
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from agentslot.session.credential.contract import CredentialResolver
from agentslot.session.credential.errors import (
    CredentialKindMismatch,
    CredentialNotFound,
    CredentialUnavailable,
)
from agentslot.session.credential.material import (
    BearerToken,
    CredentialKind,
    CredentialRecord,
    CredentialRef,
    Material,
    kind_of_record,
)

ENVIRONMENT = "env:"
"""Begins references to environment variables."""


def in_environment(ref: CredentialRef) -> bool:
    """Whether the reference names an environment variable, which needs no configuration."""
    return ref.id.startswith(ENVIRONMENT)


class LookupCredentials(ABC):
    """A CredentialResolver for whoever can find a record by its reference; derive from it."""

    @abstractmethod
    async def lookup(self, ref: CredentialRef) -> CredentialRecord:
        """Find the record, without keeping it.

        Raises:
            CredentialNotFound: there is none.
            CredentialUnavailable: it cannot be had now.
        """

    @asynccontextmanager
    async def resolve(
        self, ref: CredentialRef, kind: CredentialKind = CredentialKind.BEARER
    ) -> AsyncGenerator[Material]:
        """Give the material for the time of the context; see CredentialResolver."""
        record = await self.lookup(ref)
        stored = kind_of_record(record)
        if stored is not kind:
            raise CredentialKindMismatch(ref.id, kind, stored)
        if isinstance(record, BearerToken):
            record = _clean(ref, record)
        material = Material(ref, record)
        try:
            yield material
        finally:
            material.clear()


class MemoryCredentials(LookupCredentials):
    """Credentials that the program itself holds, for development and tests."""

    def __init__(self, records: Mapping[str, CredentialRecord | str]) -> None:
        """Take records by the ids of their references; a text is a bearer token."""
        self._records = {
            name: BearerToken(record) if isinstance(record, str) else record
            for name, record in records.items()
        }

    async def lookup(self, ref: CredentialRef) -> CredentialRecord:
        """Find the record; see LookupCredentials."""
        try:
            return self._records[ref.id]
        except KeyError:
            raise CredentialNotFound(ref.id, "add it to MemoryCredentials") from None


class EnvironmentCredentials(LookupCredentials):
    """Tokens in environment variables; a new value is used from the next attempt on.

    A reference `env:NAME` means the variable NAME, others are looked up in a table.
    """

    def __init__(self, variables: Mapping[str, str | tuple[str, ...]] | None = None) -> None:
        """Take variables by the ids of references; of several the first one that is not blank."""
        self._variables = dict(variables or {})

    async def lookup(self, ref: CredentialRef) -> BearerToken:
        """Find the token; see LookupCredentials."""
        names = self._variables.get(ref.id, ())
        if in_environment(ref):
            names = ref.id.removeprefix(ENVIRONMENT)
        names = (names,) if isinstance(names, str) else names
        for name in names:
            if token := os.environ.get(name, "").strip():
                return BearerToken(token)
        if not names:
            raise CredentialNotFound(ref.id, "no environment variable is configured for it")
        variables = " or ".join(map(repr, names))
        raise CredentialNotFound(ref.id, f"put the key into the environment variable {variables}")


class FirstOf:
    """A CredentialResolver that asks others in order; who has no such credential is passed over."""

    def __init__(self, *resolvers: CredentialResolver) -> None:
        """Ask `resolvers`, at least one."""
        if not resolvers:
            raise ValueError("FirstOf needs at least one resolver")
        self._resolvers = resolvers

    def resolve(
        self, ref: CredentialRef, kind: CredentialKind = CredentialKind.BEARER
    ) -> AbstractAsyncContextManager[Material]:
        """Give the first material that there is; see CredentialResolver."""
        return self._resolve(ref, kind)

    @asynccontextmanager
    async def _resolve(self, ref: CredentialRef, kind: CredentialKind) -> AsyncGenerator[Material]:
        async with AsyncExitStack() as stack:
            for resolver in self._resolvers[:-1]:
                try:
                    material = await stack.enter_async_context(resolver.resolve(ref, kind))
                except CredentialNotFound:
                    continue
                yield material
                return
            yield await stack.enter_async_context(self._resolvers[-1].resolve(ref, kind))


def _clean(ref: CredentialRef, record: BearerToken) -> BearerToken:
    """Only what can stand in a header field: a line break could smuggle a second one in."""
    token = record.token.strip()
    if not token:
        raise CredentialUnavailable(ref.id, "is blank: store the key itself")
    if not (token.isascii() and token.isprintable()):
        raise CredentialUnavailable(ref.id, "holds characters that no key has: store it again")
    return BearerToken(token)
