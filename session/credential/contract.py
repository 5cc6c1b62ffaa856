"""Who gives out credentials: the contract and its slot."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from agentslot import Module, One
from agentslot.session.credential.material import CredentialKind, CredentialRef, Material


class CredentialResolver(Protocol):
    """Leads references to material, each time anew. Asked for each attempt, never at build."""

    def resolve(
        self, ref: CredentialRef, kind: CredentialKind = CredentialKind.BEARER
    ) -> AbstractAsyncContextManager[Material]:
        """Give the material for the time of the context.

        Raises:
            CredentialNotFound: there is none.
            CredentialUnavailable: it cannot be had now.
            CredentialKindMismatch: it is of another kind.
        """
        ...


CREDENTIAL_RESOLVER = One[CredentialResolver](
    "credential.resolver", filled_by="CredentialsModule(resolver)"
)


class CredentialsModule(Module):
    """Fills `credential.resolver`."""

    def __init__(self, resolver: CredentialResolver) -> None:
        super().__init__("session.credentials", CREDENTIAL_RESOLVER.set(resolver))
