"""What every store asks of a request, and says of a Session that is or is not there."""

from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.identity import SessionId
from agentslot.session.store import CommitRequest
from agentslot.session.text import require_unicode


def check_request(request: CommitRequest) -> None:
    """Refuse a request that makes no sense whatever the Session is like.

    Raises:
        ClassifiedError: `invalid_input/invalid_request`, `invalid_input/text_not_unicode`.
    """
    if not request.idempotency_key:
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT, "invalid_request", "a commit needs an idempotency key"
        )
    if not request.changes:
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT, "invalid_request", "a commit has at least one change"
        )
    require_unicode(request.idempotency_key, "$.idempotency_key")
    if request.actor is not None:
        require_unicode(request.actor.id, "$.actor.id")


def session_not_found(session_id: SessionId) -> ClassifiedError:
    """There is no such Session in the store."""
    return ClassifiedError(
        ErrorKind.NOT_FOUND, "session_not_found", f"there is no session {session_id!r}"
    )


def session_exists(session_id: SessionId) -> ClassifiedError:
    """There is such a Session already."""
    return ClassifiedError(
        ErrorKind.CONFLICT, "session_already_exists", f"there is a session {session_id!r} already"
    )
