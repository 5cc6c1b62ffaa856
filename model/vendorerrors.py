"""What a provider's failure means: from status, code and message to the closed set of errors."""

import re
from dataclasses import dataclass

from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.session import safe_line

_RETRYABLE_STATUSES = frozenset({408, 409, 429})
"""Beside all from 500 on, statuses after which the same request may succeed: the vendors' own
clients try again after the same ones. A provider's own word wins over them."""

_MAX_MESSAGE_BYTES = 512
_MAX_GENERATION_CHARACTERS = 16_384

_QUOTA = re.compile(
    r"insufficient[_ ]quota|quota exceeded|exceeded your current quota|billing|out of budget"
    r"|insufficient[_ ]balance|available balance|credit balance|monthly limit|usage limit",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"context[_ ](?:length|size|window)|maximum context|too many (?:input )?tokens"
    r"|prompt is too long|input is too long|reduce the length|token limit (?:reached|exceeded)"
    r"|exceeds the maximum number of tokens",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content[_ ](?:filter|policy|management)|moderation", re.IGNORECASE)
_LIMITED = re.compile(r"rate[_ ]?limit|too many requests", re.IGNORECASE)
_PASSING = re.compile(
    r"overloaded|server[_ ]error|internal|unavailable|try again|retry|timed? ?out|capacity|gateway",
    re.IGNORECASE,
)

_BY_STATUS = {
    401: ModelErrorCode.AUTHENTICATION,
    402: ModelErrorCode.QUOTA_EXHAUSTED,
    403: ModelErrorCode.AUTHENTICATION,
    404: ModelErrorCode.MODEL_NOT_FOUND,
    408: ModelErrorCode.TIMEOUT,
    429: ModelErrorCode.RATE_LIMITED,
}


@dataclass(frozen=True, slots=True)
class VendorError:
    """A failure in the provider's own words, as far as it used any.

    Attributes:
        status: HTTP status, or the number that stands for it in the stream; 0 if there is none.
        code: the provider's own code, such as `insufficient_quota`.
        type: its class of error, such as `invalid_request_error`.
        message: its message, not yet safe to show.
        failed_generation: what the model wrote and the provider refused, if it tells.
        retry: the provider's own word on trying again, None if it said nothing.
        retry_after_seconds: how long it asks to wait.
        means: what the failure is, where the words would mislead.
    """

    status: int
    code: str = ""
    type: str = ""
    message: str = ""
    failed_generation: str = ""
    retry: bool | None = None
    retry_after_seconds: float | None = None
    means: ModelErrorCode | None = None


def classify(vendor: VendorError) -> ModelError:
    """Make the typed error of a provider's failure; only its message is shown, as one safe line."""
    code = _code(vendor)
    message = safe_line(vendor.message, _MAX_MESSAGE_BYTES)
    if not message:
        status = f"status {vendor.status}" if vendor.status else "an error"
        message = f"the provider answered with {status} and no message"
    return ModelError(
        code,
        message,
        retryable=_is_retryable(vendor, code),
        retry_after_seconds=vendor.retry_after_seconds,
        status=vendor.status or None,
        vendor_code=safe_line(vendor.code or vendor.type, 128),
        failed_generation=vendor.failed_generation[:_MAX_GENERATION_CHARACTERS],
    )


def _is_retryable(vendor: VendorError, code: ModelErrorCode) -> bool:
    if code is ModelErrorCode.QUOTA_EXHAUSTED:
        return False
    if vendor.retry is not None:
        return vendor.retry
    if vendor.status in _RETRYABLE_STATUSES or vendor.status >= 500:
        return True
    if "overloaded" in f"{vendor.code} {vendor.type}":
        return True
    return not vendor.status and code in (ModelErrorCode.RATE_LIMITED, ModelErrorCode.OVERLOADED)


def _code(vendor: VendorError) -> ModelErrorCode:
    words = f"{vendor.code} {vendor.type} {vendor.message}"
    if vendor.means is not None:
        return vendor.means
    if _QUOTA.search(words):
        return ModelErrorCode.QUOTA_EXHAUSTED
    if vendor.status < 500 and _CONTEXT.search(words):
        return ModelErrorCode.CONTEXT_EXCEEDED
    if vendor.status < 500 and _FILTERED.search(vendor.code):
        return ModelErrorCode.REFUSED
    if vendor.status in _BY_STATUS:
        return _BY_STATUS[vendor.status]
    if 0 < vendor.status < 500:
        return ModelErrorCode.REQUEST_REJECTED
    return _code_in_words(words) if vendor.status == 0 else ModelErrorCode.OVERLOADED


def _code_in_words(words: str) -> ModelErrorCode:
    """Judge an error inside a stream that carries no number; what is unknown is not tried again."""
    if _LIMITED.search(words):
        return ModelErrorCode.RATE_LIMITED
    return ModelErrorCode.OVERLOADED if _PASSING.search(words) else ModelErrorCode.REQUEST_REJECTED
