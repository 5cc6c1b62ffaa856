"""`agentslot sessions export`: one Session as a document to keep or to hand on."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path

from pydantic_core import to_jsonable_python

from agentslot._json import dumps, replace_lone_surrogates
from agentslot.session import SessionState
from agentslot.standardagent.command.document import write
from agentslot.standardagent.command.failure import UsageError
from agentslot.standardagent.command.sessions.html import render_html
from agentslot.standardagent.command.sessions.markdown import render_markdown
from agentslot.standardagent.command.sessions.places import add_places, find
from agentslot.standardagent.command.subcommand import Subparsers

EXPORT_FORMAT = "agentslot.session-export/v1"


def render_json(state: SessionState) -> str:
    """Everything that the Session's future depends on, as one JSON object."""
    document = {
        "format": EXPORT_FORMAT,
        "session_id": state.id,
        "agent": state.agent,
        "workspace": state.workspace,
        "revision": state.revision,
        "created_at": state.created_at,
        "updated_at": state.updated_at,
        "model_config": state.model_config,
        "lineage": state.lineage,
        "active_run": state.active_run,
        "queue": state.queue,
        "history": list(state.history),
    }
    return replace_lone_surrogates(dumps(to_jsonable_python(document))) + "\n"


FORMATS: dict[str, Callable[[SessionState], str]] = {
    "markdown": render_markdown,
    "html": render_html,
    "json": render_json,
}
_SUFFIXES = {".md": "markdown", ".html": "html", ".htm": "html", ".json": "json"}


def add_parser(subparsers: Subparsers) -> ArgumentParser:
    """Declare the options of `export`."""
    parser = subparsers.add_parser(
        "export",
        help="a session as Markdown, HTML or JSON",
        description="Write a session as a document. The HTML page needs no network and runs no"
        " scripts; tool calls are folded.",
    )
    add_places(parser)
    parser.add_argument("--session", metavar="ID", help="this one, not the latest")
    parser.add_argument(
        "--format",
        choices=tuple(FORMATS),
        help="what to write (default: what the name of --output ends with; markdown without one)",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write there instead of here")
    return parser


def run(options: Namespace) -> int:
    """Export one Session."""
    render = FORMATS[options.format or _format_of(options.output)]
    _, state = find(options)
    write(render(state), options.output)
    return 0


def _format_of(output: Path | None) -> str:
    suffix = output.suffix.lower() if output else ""
    if suffix and suffix not in _SUFFIXES:
        raise UsageError(
            f"{suffix!r} says no format: end the name of --output with"
            f" {', '.join(_SUFFIXES)}, or give --format"
        )
    return _SUFFIXES.get(suffix, "markdown")
