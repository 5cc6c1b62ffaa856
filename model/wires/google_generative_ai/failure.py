"""Failures as Google tells them: a status in a word, and details of many types."""

import re
from collections.abc import Mapping

from agentslot._json import JsonError, JsonValue, loads
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.retry import retry_after_seconds, should_retry
from agentslot.model.vendorerrors import VendorError, classify
from agentslot.model.wires.reading import JsonObject, as_count, as_object, as_objects, as_text
from agentslot.session import safe_line

_SECONDS = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")
_NO_KEY = frozenset({"API_KEY_INVALID", "API_KEY_EXPIRED", "API_KEY_SERVICE_BLOCKED"})


def explain_status(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """Make the error of an answer whose status is not 200; foreign bodies are never shown."""
    try:
        document = loads(body)
    except JsonError:
        document = None
    if isinstance(document, list):  # what a stream would have been without `alt=sse`
        document = document[0] if document else None
    error = as_object(as_object(document).get("error"))
    return explain({**error, "code": status}, headers)


def explain(error: JsonObject, headers: Mapping[str, str] | None = None) -> ModelError:
    """Make the error of an `error` object, which stands in a body or in the middle of a stream."""
    delay = retry_after_seconds(headers or {})
    for detail in as_objects(error.get("details")):
        if found := _SECONDS.fullmatch(as_text(detail.get("retryDelay"))):
            delay = float(found[1])
    return classify(
        VendorError(
            status=as_count(error.get("code")) or 0,
            code=as_text(error.get("status")),
            message=as_text(error.get("message")),
            retry=should_retry(headers or {}),
            retry_after_seconds=delay,
            means=_meaning(error, delay),
        )
    )


def _meaning(error: JsonObject, delay: float | None) -> ModelErrorCode | None:
    """What the details say better than status and message do.

    A wrong key is a bad request here. And the message is the same for all quotas, but only that of
    a day does not come back while a call waits.
    """
    details = as_objects(error.get("details"))
    if any(detail.get("reason") in _NO_KEY for detail in details):
        return ModelErrorCode.AUTHENTICATION
    if error.get("status") != "RESOURCE_EXHAUSTED":
        return None
    violations = [entry for detail in details for entry in as_objects(detail.get("violations"))]
    if any("PerDay" in as_text(violation.get("quotaId")) for violation in violations):
        return ModelErrorCode.QUOTA_EXHAUSTED
    return None if delay is None else ModelErrorCode.RATE_LIMITED


def refused(reason: JsonValue, what: str) -> ModelError:
    """The error of a prompt or an answer that the provider's filter held back."""
    word = safe_line(as_text(reason), 128)
    message = f"the provider's content filter held the {what} back: {word}"
    return ModelError(ModelErrorCode.REFUSED, message, vendor_code=word)
