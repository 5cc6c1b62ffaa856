"""The tool `artifact_read`."""

from typing import Annotated

from pydantic import Field

from agentslot.session import ClassifiedError, ToolResult
from agentslot.tool.attachments import artifact_store
from agentslot.tool.contract import Effect, ToolInvocation
from agentslot.tool.errors import ToolFailedError
from agentslot.tool.fit import check_start, cut, fit
from agentslot.tool.functiontool import function_tool

MAX_SHOWN_BYTES = 50 * 1024


@function_tool(parallel_safe=True, effect=Effect.READ)
async def artifact_read(
    artifact: str, invocation: ToolInvocation, start: Annotated[int, Field(ge=0)] = 0
) -> ToolResult:
    """Read an artifact that an earlier result refers to; images and audio are shown as such.

    The last line of the result, in brackets, is not part of the artifact: it says how to read on.

    Args:
        artifact: Id of the artifact.
        invocation: The call.
        start: Character of the text to start at; only to read on in a long one.
    """
    try:
        found = await artifact_store(invocation).open(artifact)
    except ClassifiedError as error:
        raise ToolFailedError(error.code, error.message) from error
    metadata = found.metadata
    if metadata.media_type.startswith(("image/", "audio/")):
        return ToolResult.succeeded(invocation.call.id, None, metadata)
    try:
        text = found.body.decode()
    except UnicodeDecodeError:
        shown = f"[{metadata.media_type}, {metadata.size} bytes; it is no text]"
        return ToolResult.succeeded(invocation.call.id, shown)
    check_start(start, text)

    def window(max_bytes: int) -> str:
        part = cut(text[start:], max_bytes)
        end = start + len(part)
        more = f"; continue with start={end}" if end < len(text) else ""
        return f"{part}\n[characters {start} to {end} of {len(text)}{more}]"

    shown = fit(window, MAX_SHOWN_BYTES, invocation.max_inline_output_bytes)
    return ToolResult.succeeded(invocation.call.id, shown)
