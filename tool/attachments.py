"""Content that becomes an artifact: images, documents, output too long to show."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import cast

import anyio.to_thread

from agentslot.session import ArtifactMetadata, ArtifactStore, ClassifiedError, ErrorKind
from agentslot.tool.audio import AUDIO_TYPES, audio_type
from agentslot.tool.contract import ToolInvocation
from agentslot.tool.errors import ToolFailedError
from agentslot.tool.images import IMAGE_TYPES, image_problem, image_type, normalize_image


@dataclass(frozen=True, slots=True)
class Attachment:
    """Content that somebody sends with a message, or that a function tool returns.

    It is kept in the artifact store; History and the model get a reference. An image is made small
    enough for every provider on the way; what audio is, is told by its first bytes. A tool returns
    it alone or beside other values:

    ```python
    @function_tool
    async def plot() -> tuple[str, Attachment]:
        \"\"\"Draw the measurements.\"\"\"
        return "drawn", Attachment(png, "image/png", "plot.png")
    ```
    """

    content: bytes
    media_type: str
    name: str = ""


def artifact_store(invocation: ToolInvocation) -> ArtifactStore:
    """The store of the application that the call runs in.

    Raises:
        ToolFailedError: `artifacts_unavailable` if there is none.
    """
    if invocation.artifacts is None:
        message = "there is no artifact store here that could keep it; ask for text, or for less"
        raise ToolFailedError("artifacts_unavailable", message)
    return invocation.artifacts


async def attach(invocation: ToolInvocation, attachment: Attachment) -> ArtifactMetadata:
    """Keep an attachment.

    Raises:
        ToolFailedError: `artifacts_unavailable`, `invalid_attachment`, or as the store refuses it.
    """
    store = artifact_store(invocation)
    try:
        return await keep_attachment(store, attachment)
    except ClassifiedError as error:
        raise ToolFailedError(error.code, error.message) from error


async def keep_attachment(store: ArtifactStore, attachment: Attachment) -> ArtifactMetadata:
    """Write an attachment to a store.

    Raises:
        ClassifiedError: `invalid_input/invalid_attachment` for an image or audio that providers
            refuse, or as the store refuses it.
    """
    content, media_type = attachment.content, attachment.media_type
    if media_type.startswith("image/"):
        media_type = _checked_type(attachment)
        content, media_type = await anyio.to_thread.run_sync(normalize_image, content, media_type)
    elif media_type.startswith("audio/"):
        media_type = _true_type(attachment, audio_type, AUDIO_TYPES)
    return await store.write(media_type, attachment.name, content)


def _checked_type(image: Attachment) -> str:
    media_type = _true_type(image, image_type, IMAGE_TYPES)
    problem = image_problem(image.content)
    if problem is not None:
        raise invalid_attachment(image, f"is {problem}")
    return media_type


def _true_type(attachment: Attachment, tell: Callable[[bytes], str | None], known: Set[str]) -> str:
    """What it really is: a request that says otherwise is refused, and all after it."""
    claimed = attachment.media_type
    found = tell(attachment.content[:16])
    if found is None and claimed in known:
        raise invalid_attachment(attachment, f"is no {claimed}: it does not begin like one")
    return found or claimed


def invalid_attachment(attachment: Attachment, problem: str) -> ClassifiedError:
    """The refusal of an attachment."""
    name = f" {attachment.name!r}" if attachment.name else ""
    return ClassifiedError(
        ErrorKind.INVALID_INPUT, "invalid_attachment", f"the attachment{name} {problem}"
    )


def take_apart(value: object) -> tuple[object, Sequence[Attachment]]:
    """What a function returned, as output and attachments."""
    if isinstance(value, Attachment):
        return None, (value,)
    if not isinstance(value, list | tuple):
        return value, ()
    items = cast("Sequence[object]", value)
    attachments = [item for item in items if isinstance(item, Attachment)]
    if not attachments:
        return items, ()
    others = [item for item in items if not isinstance(item, Attachment)]
    return (others[0] if len(others) == 1 else others or None), attachments
