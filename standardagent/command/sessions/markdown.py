"""A Session as Markdown: what was said as quotations, tool calls folded."""

import re
from collections.abc import Iterator
from html import escape

from agentslot.interaction.cli import call_details, call_line, printable
from agentslot.session import ReasoningPart, SessionState
from agentslot.standardagent.command.sessions.story import (
    Called,
    Event,
    Noted,
    Said,
    code_and_prose,
    ending,
    outcome_line,
    output_of,
    story,
    text_of,
    title_of,
)

# A tag, a comment or a character reference may begin here.
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])|&(?=[A-Za-z#])")


def render_markdown(state: SessionState) -> str:
    """Write the document. Nothing that was said can end its quotation or begin a tag."""
    about = (
        f"Session {state.id} of agent {state.agent} in workspace {state.workspace},"
        f" revision {state.revision}, {state.updated_at:%Y-%m-%d %H:%M} UTC."
    )
    blocks = [f"# {_line(title_of(state))}", _line(about)]
    for event in story(state):
        blocks += _blocks(event)
    blocks += (f"*{_line(text)}*" for text in ending(state))
    return "\n\n".join(blocks) + "\n"


def _blocks(event: Event) -> Iterator[str]:
    match event:
        case Said(fact, message) as said:
            yield f"**{said.speaker}** · {fact.sequence} · {fact.at:%Y-%m-%d %H:%M:%S}"
            for part in message.parts:
                if isinstance(part, ReasoningPart):
                    yield _folded("thinking", part.text)
            if text := text_of(message):
                yield _quoted(text)
        case Called(call=call):
            line = f"{call_line(call)} — {outcome_line(event)}"
            yield _folded(line, call_details(call), output_of(event))
        case Noted(_, text):
            yield f"*{_line(text)}*"


def _line(text: str) -> str:
    """Text on one line that has no meaning in Markdown."""
    line = " ".join(printable(text).split())
    return re.sub(r"([\\`*_\[\]#|~])", r"\\\1", escape(line, quote=False))


def _quoted(text: str) -> str:
    blocks = (
        _fenced(block) if is_code else _MARKUP.sub(lambda found: escape(found[0]), block)
        for is_code, block in code_and_prose(printable(text))
    )
    return "\n".join(f"> {line}".rstrip() for line in "\n".join(blocks).split("\n"))


def _folded(summary: str, *texts: str) -> str:
    blocks = "\n\n".join(_fenced(printable(text)) for text in texts if text)
    title = escape(printable(summary), quote=False)
    return f"<details><summary>{title}</summary>\n\n{blocks}\n\n</details>"


def _fenced(text: str) -> str:
    """A block of code that no run of backticks inside can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
