"""Why there is no credential. No message holds a secret, a path or the cause of a decryption.

ClassifiedError
└── CredentialError             reference
    ├── CredentialNotFound
    ├── CredentialUnavailable
    └── CredentialKindMismatch
"""

from agentslot.session.errors import ClassifiedError, ErrorKind


class CredentialError(ClassifiedError):
    """A reference did not lead to a credential.

    Attributes:
        reference: its id, which is no secret.
    """

    def __init__(self, kind: ErrorKind, code: str, message: str, reference: str) -> None:
        super().__init__(kind, code, message)
        self.reference = reference


class CredentialNotFound(CredentialError):  # noqa: N818 - named after what is the matter
    """Nothing is stored under that reference."""

    def __init__(self, reference: str, hint: str) -> None:
        message = f"there is no credential {reference!r}: {hint}"
        super().__init__(ErrorKind.NOT_FOUND, "credential_not_found", message, reference)


class CredentialUnavailable(CredentialError):  # noqa: N818 - named after what is the matter
    """It may be stored, but cannot be had now, or cannot be used."""

    def __init__(self, reference: str, problem: str) -> None:
        message = f"credential {reference!r} {problem}"
        super().__init__(ErrorKind.UNAVAILABLE, "credential_unavailable", message, reference)


class CredentialKindMismatch(CredentialError):  # noqa: N818 - named after what is the matter
    """It is of another kind than was asked for."""

    def __init__(self, reference: str, wanted: str, stored: str) -> None:
        message = f"credential {reference!r} is of kind {stored!r}, and {wanted!r} is needed"
        super().__init__(ErrorKind.INVALID_INPUT, "credential_kind_mismatch", message, reference)
