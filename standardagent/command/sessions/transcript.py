"""A stored Session as lines for a terminal."""

from collections.abc import Iterator

from agentslot.interaction.cli import call_line, printable
from agentslot.session import Role, SessionState
from agentslot.standardagent.command.sessions.story import (
    Called,
    Event,
    Noted,
    Said,
    ending,
    outcome_line,
    output_of,
    story,
    text_of,
)

_INDENT = "    "
_MAX_RESULT_LINES = 20


def transcript(state: SessionState) -> Iterator[str]:
    """The lines of a transcript; what a person said has its number, for `fork --before`."""
    yield (
        f"session {state.id}: agent {state.agent}, workspace {state.workspace},"
        f" revision {state.revision}, {state.updated_at:%Y-%m-%d %H:%M:%S} UTC"
    )
    for event in story(state):
        yield from map(printable, _lines(event))
    yield from map(printable, ending(state))


def _lines(event: Event) -> Iterator[str]:
    match event:
        case Said(fact, message) as said:
            number = f" #{fact.sequence}" if message.role is Role.USER else ""
            yield ""
            yield f"{said.speaker}{number}: {text_of(message)}"
        case Called():
            yield f"→ {call_line(event.call)}"
            yield outcome_line(event)
            lines = output_of(event).splitlines()
            yield from (f"{_INDENT}{line}" for line in lines[:_MAX_RESULT_LINES])
            if len(lines) > _MAX_RESULT_LINES:
                yield f"{_INDENT}… {len(lines) - _MAX_RESULT_LINES} more lines"
        case Noted(_, text):
            yield f"-- {text}"
