"""Credentials in one encrypted file: AES-256-GCM, read anew each time.

The file begins with the line `agentslot.credentials/v1`, which is authenticated with the rest. A
nonce of 12 bytes follows, and the ciphertext of a JSON object: by the id of each reference either
`{"token": …}` or `{"username": …, "password": …}`.
"""

import os
import secrets
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread

from agentslot._extras import require_extra
from agentslot._json import JsonError, JsonValue, dumps, loads
from agentslot.session.credential.errors import CredentialNotFound, CredentialUnavailable
from agentslot.session.credential.lookup import LookupCredentials
from agentslot.session.credential.material import (
    BasicLogin,
    BearerToken,
    CredentialRecord,
    CredentialRef,
)

_HEADER = b"agentslot.credentials/v1\n"
_NONCE_BYTES = 12
_KEY_BYTES = 32
_MAX_FILE_BYTES = 8 * 1024 * 1024
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class EncryptedFileCredentials(LookupCredentials):
    """Credentials in a file that `seal` has made; needs the extra `credentials`.

    The file is read for each lookup, so a file that was replaced is used at once.
    """

    def __init__(self, path: str | Path, key: Callable[[], bytes]) -> None:
        """Read `path` with the 32 bytes that `key` gives, which come from somewhere else.

        Raises:
            MissingExtra: the package `cryptography` is not installed.
        """
        require_extra("EncryptedFileCredentials", "credentials", "cryptography")
        self._path = Path(path)
        self._key = key

    async def lookup(self, ref: CredentialRef) -> CredentialRecord:
        """Find the record; see LookupCredentials."""
        record = await anyio.to_thread.run_sync(self._read, ref)
        if record is None:
            raise CredentialNotFound(ref.id, "seal it into the credentials file")
        return record

    def _read(self, ref: CredentialRef) -> CredentialRecord | None:
        content = _read_private(self._path, ref)
        if not content.startswith(_HEADER):
            raise CredentialUnavailable(ref.id, "cannot be read: the file is no credentials file")
        sealed = content[len(_HEADER) :]
        cipher, invalid = _cipher(self._key(), ref)
        try:
            plain = cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], _HEADER)
            return _record(loads(plain), ref)
        except (invalid, ValueError, JsonError):
            # Why it fails is nobody's business: it would help to guess the key.
            raise CredentialUnavailable(
                ref.id, "cannot be decrypted: the key is wrong or the file is damaged"
            ) from None


def seal(records: Mapping[str, CredentialRecord | str], key: bytes) -> bytes:
    """The content of a credentials file, to be written with the mode 0600.

    Args:
        records: by the ids of their references; a text is a bearer token.
        key: 32 random bytes.

    Raises:
        ValueError: the key has another length, or an id is no reference.
        MissingExtra: the package `cryptography` is not installed.
    """
    require_extra("seal", "credentials", "cryptography")
    plain: dict[str, object] = {}
    for name, record in records.items():
        bare = BearerToken(record) if isinstance(record, str) else record
        plain[CredentialRef(name).id] = _plain(bare)
    cipher, _ = _cipher(key, None)
    nonce = secrets.token_bytes(_NONCE_BYTES)
    sealed: bytes = cipher.encrypt(nonce, dumps(plain).encode(), _HEADER)
    return _HEADER + nonce + sealed


def _read_private(path: Path, ref: CredentialRef) -> bytes:
    """The content, checked on the descriptor that is read: the path may change meanwhile."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        raise CredentialUnavailable(ref.id, "cannot be read: there is no such file") from None
    except OSError as error:  # its own text has the path
        problem = f"cannot be read: its file cannot be opened ({error.strerror})"
        raise CredentialUnavailable(ref.id, problem) from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_FILE_BYTES:
            raise CredentialUnavailable(ref.id, "cannot be read: that is no file of at most 8 MiB")
        if os.name == "posix" and status.st_mode & _OTHERS:
            raise CredentialUnavailable(
                ref.id, "is not safe: others may read its file, so give that the mode 0600"
            )
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(_MAX_FILE_BYTES)
    finally:
        os.close(descriptor)


def _cipher(key: bytes, ref: CredentialRef | None) -> tuple[Any, type[Exception]]:
    """The cipher and the error of a failed decryption; untyped, since the package is an extra."""
    if len(key) != _KEY_BYTES:
        if ref is None:
            raise ValueError(f"the key must have {_KEY_BYTES} bytes, not {len(key)}")
        raise CredentialUnavailable(
            ref.id, f"cannot be decrypted: the key has no {_KEY_BYTES} bytes"
        )
    from cryptography.exceptions import InvalidTag  # an extra: most applications need none
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key), InvalidTag


def _plain(record: CredentialRecord) -> dict[str, str]:
    if isinstance(record, BearerToken):
        return {"token": record.token}
    return {"username": record.username, "password": record.password}


def _record(document: JsonValue, ref: CredentialRef) -> CredentialRecord | None:
    """Find one record. Equal names were refused when the document was read."""
    found = document.get(ref.id) if isinstance(document, dict) else None
    match found:
        case None:
            return None
        case {"token": str(token)}:
            return BearerToken(token)
        case {"username": str(username), "password": str(password)}:
            return BasicLogin(username, password)
        case _:
            raise ValueError("no record")
