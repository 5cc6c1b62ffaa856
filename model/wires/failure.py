"""Failures as vendors tell them: error bodies, and errors in a stream that began well."""

from collections.abc import Mapping

from agentslot._json import JsonError, JsonValue, loads
from agentslot.model.errors import ModelError, ModelErrorCode
from agentslot.model.retry import retry_after_seconds, should_retry
from agentslot.model.vendorerrors import VendorError, classify
from agentslot.model.wires.reading import JsonObject, as_count, as_object, as_text


def nameless_call() -> ModelError:
    """The error of an answer with a tool call that nobody can tell the tool of."""
    message = "the provider sent a tool call without a name"
    return ModelError(ModelErrorCode.INVALID_ANSWER, message)


def explain_status(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """Make the error of an answer whose status is not 200; foreign bodies are never shown."""
    try:
        document = as_object(loads(body))
    except JsonError:
        document = {}
    error = document.get("error")
    details = error if isinstance(error, dict) else document
    message = error if isinstance(error, str) else as_text(details.get("message"))
    return classify(
        VendorError(
            status=status,
            code=_word(details.get("code")),
            type=_word(details.get("type")),
            message=message,
            failed_generation=as_text(details.get("failed_generation")),
            retry=should_retry(headers),
            retry_after_seconds=retry_after_seconds(headers),
        )
    )


def find_failure(chunk: JsonObject) -> VendorError | None:
    """Find the error that an event carries beside, or instead of, a piece of the answer."""
    error = chunk.get("error")
    if error:
        details: JsonObject = error if isinstance(error, dict) else {"message": error}
        return _describe(details, as_text(details.get("message")))
    if chunk.get("choices") is not None:
        return None
    if message := as_text(chunk.get("error_message")):
        return _describe({**chunk, "type": chunk.get("error_type")}, message)
    if chunk.get("object") == "error" or chunk.get("type") == "error":
        return _describe(chunk, as_text(chunk.get("message")))
    return None


def _describe(details: JsonObject, message: str) -> VendorError:
    return VendorError(
        status=_status(details),
        code=_word(details.get("code")),
        type=_word(details.get("type")),
        message=message,
        failed_generation=as_text(details.get("failed_generation")),
    )


def _status(details: JsonObject) -> int:
    for name in ("status_code", "status", "code"):
        if (status := _as_status(details.get(name))) is not None:
            return status
    return 0


def _as_status(value: JsonValue) -> int | None:
    if isinstance(value, str):
        value = int(value) if len(value) == 3 and value.isdecimal() else None
    number = as_count(value)
    return number if number is not None and 400 <= number <= 599 else None


def _word(value: JsonValue) -> str:
    """A code that is a word; numbers are statuses."""
    text = as_text(value)
    return "" if text.isdecimal() else text
