"""A Session as one HTML page that needs no network and runs no scripts."""

from collections.abc import Iterator
from html import escape
from importlib.resources import files

from agentslot.interaction.cli import call_details, call_line, printable
from agentslot.session import ModelAttempt, ReasoningPart, SessionState, ToolStatus
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

# The browser itself refuses everything that is not written in the page.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render_html(state: SessionState) -> str:
    """Write the page. All that anybody said stands in it as text."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{_text(title_of(state))}</title>",
            f"<style>\n{_style()}</style>",
            "</head>",
            "<body>",
            *_header(state),
            "<main>",
            *(line for event in story(state) for line in _event(event)),
            *(f'<p class="note">{_text(text)}</p>' for text in ending(state)),
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _style() -> str:
    sheet = files("agentslot.standardagent.command.sessions") / "page.css"
    return sheet.read_text(encoding="utf-8")


def _text(text: str) -> str:
    return escape(printable(text), quote=True)


def _header(state: SessionState) -> Iterator[str]:
    tokens = sum(
        attempt.usage.total
        for attempt in (fact.payload for fact in state.history)
        if isinstance(attempt, ModelAttempt) and attempt.usage is not None
    )
    known = {
        "session": state.id,
        "agent": state.agent,
        "workspace": state.workspace,
        "model": state.model_config.model,
        "last change": f"{state.updated_at:%Y-%m-%d %H:%M} UTC",
        "revision": str(state.revision),
        "tokens": f"{tokens:,}",
    }
    if state.lineage is not None:
        known["branched off"] = f"{state.lineage.parent}, fact {state.lineage.copied}"
    yield f"<header>\n<h1>{_text(title_of(state))}</h1>\n<dl>"
    for name, value in known.items():
        yield f"<div><dt>{name}</dt><dd>{_text(value)}</dd></div>"
    yield "</dl>\n</header>"


def _event(event: Event) -> Iterator[str]:
    number = event.fact.sequence
    match event:
        case Said(fact, message) as said:
            yield f'<article class="{message.role}" id="fact-{number}">'
            yield (
                f'<h2>{said.speaker} <a href="#fact-{number}">{number}</a>'
                f' <time datetime="{fact.at.isoformat()}">{fact.at:%H:%M:%S}</time></h2>'
            )
            for part in message.parts:
                if isinstance(part, ReasoningPart):
                    yield _folded("thinking", "thinking", [part.text])
            for is_code, block in code_and_prose(text_of(message)):
                yield _block(block) if is_code else f"<p>{_text(block.strip())}</p>"
            yield "</article>"
        case Called(call=call, result=result):
            outcome = "open" if result is None else str(result.status)
            failure = "" if outcome == ToolStatus.SUCCEEDED else outcome_line(event)
            texts = [call_details(call), failure, output_of(event)]
            yield _folded(f"call {outcome}", call_line(call), texts, anchor=f"fact-{number}")
        case Noted(_, text):
            yield f'<p class="note" id="fact-{number}">{_text(text)}</p>'


def _folded(kind: str, summary: str, texts: list[str], *, anchor: str = "") -> str:
    place = f' id="{anchor}"' if anchor else ""
    blocks = "\n".join(_block(text) for text in texts if text)
    return (
        f'<details class="{kind}"{place}><summary>{_text(summary)}</summary>\n{blocks}\n</details>'
    )


def _block(text: str) -> str:
    return f"<pre>{_text(text)}</pre>"
