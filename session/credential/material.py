"""References to credentials, and the material that they lead to for a moment."""

import hashlib
import secrets
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NoReturn

_MAX_REFERENCE_BYTES = 256
_PROCESS_KEY = secrets.token_bytes(32)
"""Keys fingerprints, so that nobody can test guesses against one."""


class CredentialKind(StrEnum):
    """What a credential consists of."""

    BEARER = "bearer"
    BASIC = "basic"


@dataclass(frozen=True, slots=True)
class CredentialRef:
    """Names a credential. It is no secret, and may stand in configurations, facts and logs.

    Attributes:
        id: at most 256 bytes of printable text, such as `openai` or `env:OPENAI_API_KEY`.
    """

    id: str

    def __post_init__(self) -> None:
        fits = self.id and self.id.isprintable() and self.id == self.id.strip()
        if not fits or len(self.id.encode()) > _MAX_REFERENCE_BYTES:
            raise ValueError("a credential's reference is 1 to 256 bytes of trimmed printable text")


@dataclass(frozen=True, slots=True)
class BearerToken:
    """A key or token that is sent by itself."""

    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class BasicLogin:
    """A name with a password."""

    username: str
    password: str = field(repr=False)


CredentialRecord = BearerToken | BasicLogin


def kind_of_record(record: CredentialRecord) -> CredentialKind:
    """Which kind a record is of."""
    return CredentialKind.BEARER if isinstance(record, BearerToken) else CredentialKind.BASIC


class Material:
    """A credential in use. It shows itself to nobody, and is empty once its context has ended.

    Python cannot erase a `str`: what was read from here lives until it is collected.

    Attributes:
        kind: what it consists of.
        fingerprint: tells two credentials apart within this process, and betrays nothing.
    """

    __slots__ = ("_record", "fingerprint", "kind")

    def __init__(self, ref: CredentialRef, record: CredentialRecord) -> None:
        self.kind = kind_of_record(record)
        self._record: CredentialRecord | None = record
        parts = [ref.id, self.kind, *_fields(record)]
        text = "\0".join(parts).encode(errors="surrogatepass")
        self.fingerprint = hashlib.blake2b(text, key=_PROCESS_KEY, digest_size=16).hexdigest()

    @property
    def token(self) -> str:
        """The token of a bearer credential.

        Raises:
            RuntimeError: its context has ended, or it is of another kind.
        """
        if not isinstance(self._record, BearerToken):
            raise self._misuse()
        return self._record.token

    @property
    def login(self) -> tuple[str, str]:
        """Name and password of a basic credential.

        Raises:
            RuntimeError: its context has ended, or it is of another kind.
        """
        if not isinstance(self._record, BasicLogin):
            raise self._misuse()
        return self._record.username, self._record.password

    def clear(self) -> None:
        """Let go of the secret."""
        self._record = None

    def _misuse(self) -> RuntimeError:
        if self._record is None:
            return RuntimeError("this credential was used after its context had ended")
        return RuntimeError(f"this credential is of kind {self.kind!r}")

    def __repr__(self) -> str:
        return f"Material({self.kind!s}, ***)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a credential in use cannot be pickled or copied")


def _fields(record: CredentialRecord) -> tuple[str, ...]:
    if isinstance(record, BearerToken):
        return (record.token,)
    return (record.username, record.password)
