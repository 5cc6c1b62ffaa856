"""Messages, tool calls and their results.

The journal holds exactly the calls that have no result yet: a call enters it `prepared`, may become
`pending`, and leaves it with its one result.
"""

from collections.abc import Sequence

from agentslot.session.changes import (
    AppendMessage,
    AppendToolCall,
    AppendToolResult,
    MarkToolPending,
)
from agentslot.session.draft import Draft, require_identity
from agentslot.session.identity import ToolCallId
from agentslot.session.message import Message, Role, require_sound_message
from agentslot.session.refusal import history_broken, invalid_change, journal_broken, run_active
from agentslot.session.state import JournalEntry, JournalStatus
from agentslot.session.text import require_unicode
from agentslot.session.toolcall import ArtifactMetadata, ToolStatus


def append_message(draft: Draft, change: AppendMessage) -> None:
    """Append a message with a new id.

    An assistant message belongs to a step of the active Run, and has parts or a call in the same
    commit. A user message belongs to a step of the active Run, or to none in an idle Session.
    """
    message = change.message
    require_identity("message id", message.id)
    if message.client_message_id is not None:
        require_identity("client message id", message.client_message_id)
    if draft.has_message(message.id):
        raise history_broken(f"there is a message {message.id!r} already")
    require_sound_message(message, "$.message")
    if message.role is Role.ASSISTANT:
        _check_assistant_message(draft, message)
    else:
        _check_user_message(draft, message)
    draft.messages[message.id] = message
    draft.append(message, message.run_id, message.step_id)


def _check_assistant_message(draft: Draft, message: Message) -> None:
    if message.step_id is None:
        raise invalid_change(f"assistant message {message.id!r} names no step")
    if message.output is not None:
        raise invalid_change(f"assistant message {message.id!r} asks for an answer")
    draft.active(message.run_id)
    if not message.parts:
        draft.owing.add(message.id)


def _check_user_message(draft: Draft, message: Message) -> None:
    check_input(message)
    if message.run_id is None and message.step_id is None:
        if draft.run is not None:
            raise run_active(draft.run.id, f"message {message.id!r} must name the run and a step")
        return
    if message.step_id is None:
        raise invalid_change(f"message {message.id!r} names a run and no step")
    draft.active(message.run_id)


def check_input(message: Message) -> None:
    """Refuse what no user can have said."""
    if message.role is not Role.USER:
        raise invalid_change(f"message {message.id!r} must be a user's, not {message.role}")
    if not message.parts:
        raise invalid_change(f"user message {message.id!r} has no parts")
    if message.continuation is not None:
        raise invalid_change(f"user message {message.id!r} carries a model's continuation")


def append_tool_call(draft: Draft, change: AppendToolCall) -> None:
    """Append a call of an assistant message of the same run and step; its entry is prepared."""
    call = change.call
    require_identity("tool call id", call.id)
    require_unicode(call.correlation_id, "$.call.correlation_id")
    require_unicode(call.name, "$.call.name")
    require_unicode(call.arguments, "$.call.arguments")
    run = draft.active(call.run_id)
    if call.id in draft.calls or draft.history.has_call(call.id):
        raise history_broken(f"there is a tool call {call.id!r} already")
    message = draft.message(call.message_id)
    if message is None or message.role is not Role.ASSISTANT:
        raise history_broken(f"tool call {call.id!r} belongs to no assistant message")
    if message.run_id != call.run_id or message.step_id != call.step_id:
        raise history_broken(f"tool call {call.id!r} is of another run or step than its message")
    draft.owing.discard(message.id)
    draft.calls.add(call.id)
    draft.put_entry(JournalEntry(call, JournalStatus.PREPARED))
    draft.run = run.with_call()
    draft.append(call, call.run_id, call.step_id)


def mark_tool_pending(draft: Draft, change: MarkToolPending) -> None:
    """Cross the execution boundary of a prepared call."""
    entry = _unfinished(draft, change.call_id)
    if entry.status is not JournalStatus.PREPARED:
        raise journal_broken(f"tool call {change.call_id!r} is {entry.status}, not prepared")
    draft.put_entry(JournalEntry(entry.call, JournalStatus.PENDING))


def append_tool_result(draft: Draft, change: AppendToolResult) -> None:
    """Append the one result of an unfinished call and close its journal entry.

    A call that never was pending cannot have an unknown outcome. Whether the output is valid JSON
    is for the dispatcher to see to.
    """
    result = change.result
    if result.output is not None:
        require_unicode(result.output, "$.result.output")
    if result.error is not None:
        if not (result.error.code and result.error.message):
            raise invalid_change(f"tool call {result.call_id!r} failed without a code or a message")
        require_unicode(result.error.code, "$.result.error.code")
        require_unicode(result.error.message, "$.result.error.message")
    if result.artifacts:
        _check_artifacts(result.artifacts)
    entry = _unfinished(draft, result.call_id)
    unknown = result.status is ToolStatus.OUTCOME_UNKNOWN
    if unknown and entry.status is not JournalStatus.PENDING:
        raise journal_broken(f"tool call {result.call_id!r} never began: its outcome is known")
    draft.drop_entry(result.call_id)
    draft.append(result, entry.call.run_id, entry.call.step_id)


def _check_artifacts(artifacts: Sequence[ArtifactMetadata]) -> None:
    for number, artifact in enumerate(artifacts):
        for member in ("id", "media_type", "name"):
            text = getattr(artifact, member)
            require_unicode(text, f"$.result.artifacts[{number}].{member}")


def _unfinished(draft: Draft, call_id: ToolCallId) -> JournalEntry:
    entry = draft.journal.get(call_id)
    if entry is None:
        raise journal_broken(f"tool call {call_id!r} is not recorded, or has its result already")
    return entry
