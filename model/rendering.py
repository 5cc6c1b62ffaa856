"""What a model reads where a value stood: results of tools, attachments, arguments to repeat."""

import json
import re
from collections.abc import Mapping

from agentslot._json import JsonError, dumps, loads, replace_lone_surrogates
from agentslot.session import ArtifactMetadata, AttachmentPart, ToolResult, ToolStatus

NO_RESULT = "No result provided: the call was interrupted."
_UNKNOWN = "The outcome of this call is unknown: it may or may not have taken effect."


def render_result(result: ToolResult | None, notes: Mapping[str, str] | None = None) -> str:
    """The text that a model reads as the result of a call; None means that there is none.

    Args:
        result: the result.
        notes: what stands behind the lines that name artifacts, by their ids.
    """
    if result is None:
        return NO_RESULT
    lines: list[str] = []
    if result.error is not None:
        lines.append(f"Error ({result.error.code}): {result.error.message}")
    elif result.status is ToolStatus.OUTCOME_UNKNOWN:
        lines.append(_UNKNOWN)
    if result.output is not None:
        lines.append(_render_output(result.output))
    beside = notes or {}
    lines += [_render_artifact(made) + beside.get(made.id, "") for made in result.artifacts]
    return replace_lone_surrogates("\n".join(lines))


def render_attachment(part: AttachmentPart, note: str = "") -> str:
    """The text that stands for an attachment which is not sent itself, and `note` behind it."""
    name = f" {part.name}" if part.name else ""
    text = f"[attachment{name}: {part.media_type}, id {part.artifact_id}, not shown]{note}"
    return replace_lone_surrogates(text)


def object_arguments(arguments: str) -> str:
    """Arguments as every provider takes them back: the model's own text if it is a JSON object.

    Anything else would be refused in each later request, so it goes out inside of an object.
    """
    try:
        value = loads(arguments)
    except JsonError:
        value = arguments
    if isinstance(value, dict):
        return arguments
    if value is None or value == "":
        return "{}"
    return dumps({"invalid_arguments": replace_lone_surrogates(arguments)})


def sendable_name(name: str) -> str:
    """A tool's name as providers take it back: a model may make up what they refuse for ever."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64]


def _render_output(output: str) -> str:
    if not output.startswith('"'):
        return output
    try:
        return str(json.loads(output))  # our own text; what is stored must never stop a request
    except ValueError:
        return output


def _render_artifact(artifact: ArtifactMetadata) -> str:
    name = f" {artifact.name}" if artifact.name else ""
    return f"[artifact{name}: {artifact.media_type}, {artifact.size} bytes, id {artifact.id}]"
