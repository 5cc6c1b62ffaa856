"""What people send with a message, as artifacts."""

from dataclasses import replace

from agentslot.session import ArtifactStore, AttachmentPart, ClassifiedError, ErrorKind
from agentslot.tool import Attachment
from agentslot.tool.attachments import keep_attachment
from agentslot.tool.files.image import IMAGE_TYPES, image_type
from agentslot.tool.images import image_problem

MAX_ATTACHMENT_BYTES = 20 * 1024 * 1024


async def attached(store: ArtifactStore | None, attachment: Attachment) -> AttachmentPart:
    """Keep an attachment; see GatewayAccess."""
    if store is None:
        raise ClassifiedError(
            ErrorKind.UNAVAILABLE,
            "artifacts_unavailable",
            "this application has no artifact store that could keep an attachment: add"
            " FileArtifactsModule(folder) to it",
        )
    kept = await keep_attachment(store, _checked(attachment))
    return AttachmentPart(kept.id, kept.media_type, kept.name)


def _checked(attachment: Attachment) -> Attachment:
    """The attachment under the type that an image really has, since providers look at it."""
    content, said = attachment.content, attachment.media_type
    if len(content) > MAX_ATTACHMENT_BYTES:
        size = len(content) / 1024 / 1024
        raise _invalid(attachment, f"has {size:.1f} MiB, and 20 are allowed: send a smaller one")
    if not said.startswith("image/"):
        return attachment
    found = image_type(content[:16])
    if found is None and said in IMAGE_TYPES:
        raise _invalid(attachment, f"is no {said}: it does not begin like one")
    problem = image_problem(content)
    if problem is not None:
        raise _invalid(attachment, f"is {problem}")
    return attachment if found is None else replace(attachment, media_type=found)


def _invalid(attachment: Attachment, problem: str) -> ClassifiedError:
    name = f" {attachment.name!r}" if attachment.name else ""
    return ClassifiedError(
        ErrorKind.INVALID_INPUT, "invalid_attachment", f"the attachment{name} {problem}"
    )
