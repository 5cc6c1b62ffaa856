"""Inputs that wait: durable, in arrival order, until a Run takes them up."""

from dataclasses import replace

from agentslot.session.changes import (
    ConsumeQueued,
    DeleteQueued,
    EditQueued,
    Enqueue,
    ReclassifyQueued,
)
from agentslot.session.draft import Draft, require_identity
from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.identity import MessageId
from agentslot.session.message import require_unicode_parts
from agentslot.session.refusal import invalid_change
from agentslot.session.rules.transcript import check_input
from agentslot.session.state import QueueItem


def enqueue(draft: Draft, change: Enqueue) -> None:
    """Put a user message with a new id at the end; it belongs to no Run yet."""
    message = change.item.message
    require_identity("message id", message.id)
    check_input(message)
    require_unicode_parts(message.parts, "$.item.message")
    if message.run_id is not None or message.step_id is not None:
        raise invalid_change(f"queued message {message.id!r} belongs to a run already")
    queued = any(item.message.id == message.id for item in draft.queue)
    if queued or draft.has_message(message.id):
        raise ClassifiedError(
            ErrorKind.CONFLICT,
            "queue_item_already_exists",
            f"there is a message {message.id!r} already",
        )
    draft.queue = (*draft.queue, change.item)


def consume_queued(draft: Draft, change: ConsumeQueued) -> None:
    """Take an item out for the active Run; the commit must append its message, unaltered."""
    draft.active(change.run_id)
    item = _find(draft, change.message_id)
    draft.queue = tuple(other for other in draft.queue if other is not item)
    draft.consumed.append(item.message)


def edit_queued(draft: Draft, change: EditQueued) -> None:
    """Replace what an item says."""
    item = _find(draft, change.message_id)
    message = replace(item.message, parts=change.parts)
    check_input(message)
    require_unicode_parts(message.parts)
    _exchange(draft, item, QueueItem(message, item.delivery))


def delete_queued(draft: Draft, change: DeleteQueued) -> None:
    """Drop an item."""
    item = _find(draft, change.message_id)
    draft.queue = tuple(other for other in draft.queue if other is not item)


def reclassify_queued(draft: Draft, change: ReclassifyQueued) -> None:
    """Change when an item is delivered."""
    item = _find(draft, change.message_id)
    _exchange(draft, item, QueueItem(item.message, change.delivery))


def _exchange(draft: Draft, old: QueueItem, new: QueueItem) -> None:
    draft.queue = tuple(new if item is old else item for item in draft.queue)


def _find(draft: Draft, message_id: MessageId) -> QueueItem:
    for item in draft.queue:
        if item.message.id == message_id:
            return item
    raise ClassifiedError(
        ErrorKind.NOT_FOUND, "queue_item_not_found", f"message {message_id!r} is not queued"
    )
