"""Credentials in the keyring of the operating system."""

import anyio.to_thread

from agentslot._extras import require_extra
from agentslot.session.credential.errors import CredentialNotFound, CredentialUnavailable
from agentslot.session.credential.lookup import LookupCredentials
from agentslot.session.credential.material import BearerToken, CredentialRef


class KeyringCredentials(LookupCredentials):
    """Tokens that the keyring of the system keeps, under one service; needs the extra `keyring`.

    `keyring set agentslot openai` stores one that is found by the reference `openai`.
    """

    def __init__(self, service: str = "agentslot") -> None:
        """Look tokens up under `service`.

        Raises:
            MissingExtra: the package `keyring` is not installed.
        """
        require_extra("KeyringCredentials", "keyring", "keyring")
        self._service = service

    async def lookup(self, ref: CredentialRef) -> BearerToken:
        """Find the token; see LookupCredentials."""
        token = await anyio.to_thread.run_sync(self._read, ref)
        if token is None:
            raise CredentialNotFound(ref.id, f"run `keyring set {self._service} {ref.id}`")
        return BearerToken(token)

    def _read(self, ref: CredentialRef) -> str | None:
        import keyring  # an extra: most applications need none
        import keyring.errors

        try:
            return keyring.get_password(self._service, ref.id)
        except keyring.errors.KeyringError:
            # Its text may name what it must not; that it was the keyring is enough.
            raise CredentialUnavailable(
                ref.id, "cannot be read: this machine's keyring is locked or there is none"
            ) from None
