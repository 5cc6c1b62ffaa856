"""What people send with a message, as artifacts."""

from agentslot.interaction.gateway import MAX_ATTACHMENT_BYTES
from agentslot.session import ArtifactStore, AttachmentPart, ClassifiedError, ErrorKind
from agentslot.tool import Attachment
from agentslot.tool.attachments import invalid_attachment, keep_attachment


async def attached(store: ArtifactStore | None, attachment: Attachment) -> AttachmentPart:
    """Keep an attachment; see GatewayAccess."""
    if store is None:
        raise ClassifiedError(
            ErrorKind.UNAVAILABLE,
            "artifacts_unavailable",
            "this application has no artifact store that could keep an attachment: add"
            " FileArtifactsModule(folder) to it",
        )
    if len(attachment.content) > MAX_ATTACHMENT_BYTES:
        raise invalid_attachment(attachment, "has more than 20 MiB: send a smaller one")
    kept = await keep_attachment(store, attachment)
    return AttachmentPart(kept.id, kept.media_type, kept.name)
