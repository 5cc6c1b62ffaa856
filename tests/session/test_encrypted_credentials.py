"""The encrypted file of credentials."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.session.credential import (
    BasicLogin,
    CredentialKind,
    CredentialNotFound,
    CredentialRef,
    CredentialUnavailable,
    EncryptedFileCredentials,
    seal,
)

pytest.importorskip("cryptography")

KEY = bytes(range(32))
SECRET = "sk-canary-0123456789"
VENDOR = CredentialRef("vendor")


def written(folder: Path, content: bytes, mode: int = 0o600) -> Path:
    path = folder / "credentials"
    path.write_bytes(content)
    path.chmod(mode)
    return path


async def token_of(path: Path, key: bytes = KEY) -> str:
    async with EncryptedFileCredentials(path, lambda: key).resolve(VENDOR) as material:
        return material.token


async def test_what_was_sealed_is_found_under_its_reference(tmp_path: Path) -> None:
    path = written(tmp_path, seal({"vendor": SECRET, "login": BasicLogin("me", "pw")}, KEY))
    assert await token_of(path) == SECRET
    resolver = EncryptedFileCredentials(str(path), lambda: KEY)
    async with resolver.resolve(CredentialRef("login"), CredentialKind.BASIC) as material:
        assert material.login == ("me", "pw")
    with pytest.raises(CredentialNotFound):
        async with resolver.resolve(CredentialRef("absent")):
            pass


def test_a_file_begins_with_its_header_and_shows_nothing_else() -> None:
    first, second = (seal({"vendor": SECRET}, KEY) for _ in range(2))
    assert first.startswith(b"agentslot.credentials/v1\n")
    assert first != second  # the nonce is new each time
    assert SECRET.encode() not in first
    assert b"vendor" not in first


async def test_a_file_that_was_replaced_is_used_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, seal({"vendor": "old"}, KEY))
    resolver = EncryptedFileCredentials(path, lambda: KEY)
    written(tmp_path, seal({"vendor": "new"}, KEY))
    async with resolver.resolve(VENDOR) as material:
        assert material.token == "new"


@pytest.mark.parametrize("key", [bytes(32), b"short"])
async def test_a_wrong_key_opens_nothing(tmp_path: Path, key: bytes) -> None:
    path = written(tmp_path, seal({"vendor": SECRET}, KEY))
    with pytest.raises(CredentialUnavailable, match="cannot be decrypted") as caught:
        await token_of(path, key)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@given(place=st.integers(0), flip=st.integers(1, 255))
def test_no_byte_of_the_file_can_be_changed(place: int, flip: int) -> None:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    content = bytearray(seal({"vendor": SECRET}, KEY))
    header = len(b"agentslot.credentials/v1\n")
    content[place % len(content)] ^= flip
    with pytest.raises(InvalidTag):
        AESGCM(KEY).decrypt(
            bytes(content[header : header + 12]),
            bytes(content[header + 12 :]),
            bytes(content[:header]),
        )


@pytest.mark.parametrize("cut", [0, 10, 25, 30, 40])
async def test_a_file_that_was_cut_off_is_damaged(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path, seal({"vendor": SECRET}, KEY)[:cut])
    with pytest.raises(CredentialUnavailable):
        await token_of(path)


@pytest.mark.skipif(os.name != "posix", reason="permission bits are POSIX's")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
async def test_a_file_that_others_may_read_is_not_used(tmp_path: Path, mode: int) -> None:
    path = written(tmp_path, seal({"vendor": SECRET}, KEY), mode)
    with pytest.raises(CredentialUnavailable, match="0600"):
        await token_of(path)


async def test_only_a_regular_file_of_bounded_size_is_read(tmp_path: Path) -> None:
    with pytest.raises(CredentialUnavailable, match="no such file") as caught:
        await token_of(tmp_path / "absent")
    assert str(tmp_path) not in str(caught.value)
    beside = written(tmp_path, b"") / "below"
    with pytest.raises(CredentialUnavailable, match=r"cannot be opened \(Not a dir") as caught:
        await token_of(beside)
    assert str(tmp_path) not in str(caught.value)
    with pytest.raises(CredentialUnavailable):
        await token_of(tmp_path)
    big = written(tmp_path, b"")
    os.truncate(big, 8 * 1024 * 1024 + 1)
    with pytest.raises(CredentialUnavailable, match="8 MiB"):
        await token_of(big)


def test_a_key_of_another_length_seals_nothing() -> None:
    with pytest.raises(ValueError, match="32 bytes, not 5"):
        seal({}, b"short")
