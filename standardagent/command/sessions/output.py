"""What the actions print."""

from pydantic_core import to_jsonable_python

from agentslot._json import dumps, replace_lone_surrogates
from agentslot.session import Message, SessionOverview, safe_line


def print_json(value: object) -> None:
    """One JSON value on one line; dataclasses are objects."""
    print(replace_lone_surrogates(dumps(to_jsonable_python(value))))


def first_words(message: Message | None, max_bytes: int = 60) -> str:
    """The beginning of a message, on one line."""
    return "" if message is None else safe_line(message.text, max_bytes)


def row_record(row: SessionOverview) -> dict[str, object]:
    """A Session in a listing, for programs."""
    summary = row.summary
    return {
        "session_id": summary.id,
        "agent": summary.agent,
        "workspace": summary.workspace,
        "revision": summary.revision,
        "updated_at": summary.updated_at,
        "parent": summary.parent,
        "first_words": first_words(row.first_message),
    }
