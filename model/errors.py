"""Why a logical model call failed: a closed set of codes that policies branch on.

ClassifiedError
└── ModelError          code, retryable, retry_after_seconds, partial_text
"""

from enum import StrEnum

from agentslot.session import ClassifiedError, ErrorKind


class ModelErrorCode(StrEnum):
    """The closed set."""

    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    QUOTA_EXHAUSTED = "quota_exhausted"
    CONTEXT_EXCEEDED = "context_exceeded"
    AUTHENTICATION = "authentication"
    CREDENTIAL_UNAVAILABLE = "credential_unavailable"
    REFUSED = "refused"
    REQUEST_REJECTED = "request_rejected"
    MODEL_NOT_FOUND = "model_not_found"
    TRANSPORT = "transport"
    TIMEOUT = "timeout"
    BROKEN_STREAM = "broken_stream"
    INVALID_ANSWER = "invalid_answer"
    EMPTY_ANSWER = "empty_answer"
    BUDGET_EXHAUSTED = "budget_exhausted"


_KINDS = {
    ModelErrorCode.AUTHENTICATION: ErrorKind.UNAUTHORIZED,
    ModelErrorCode.REFUSED: ErrorKind.FORBIDDEN,
    ModelErrorCode.REQUEST_REJECTED: ErrorKind.INVALID_INPUT,
    ModelErrorCode.CONTEXT_EXCEEDED: ErrorKind.INVALID_INPUT,
    ModelErrorCode.MODEL_NOT_FOUND: ErrorKind.NOT_FOUND,
    ModelErrorCode.TIMEOUT: ErrorKind.DEADLINE_EXCEEDED,
}


class ModelError(ClassifiedError):
    """A logical call that failed.

    Attributes:
        code: one of ModelErrorCode.
        retryable: whether the same request may succeed later; the executor has already tried.
        retry_after_seconds: how long the provider asks to wait, if it said.
        status: HTTP status, if there was an answer.
        vendor_code: the provider's own code, such as `tool_use_failed`.
        partial_text: visible text that had arrived before the failure, for people only.
        failed_generation: what the model wrote and the provider refused, if it told; a loop may
            show it to the model once.
    """

    def __init__(
        self,
        code: ModelErrorCode,
        message: str,
        *,
        retryable: bool = False,
        retry_after_seconds: float | None = None,
        status: int | None = None,
        vendor_code: str = "",
        partial_text: str = "",
        failed_generation: str = "",
    ) -> None:
        super().__init__(_KINDS.get(code, ErrorKind.UNAVAILABLE), code, message)
        self.retryable = retryable
        self.retry_after_seconds = retry_after_seconds
        self.status = status
        self.vendor_code = vendor_code
        self.partial_text = partial_text
        self.failed_generation = failed_generation
