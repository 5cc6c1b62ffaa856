"""The content of what a request shows, read from the artifact store when it is new."""

import logging
from base64 import b64encode
from collections.abc import Mapping, Sequence

import anyio.to_thread

from agentslot.session import ArtifactStore, AttachmentPart, ClassifiedError

log = logging.getLogger(__name__)

MAX_NEW_BYTES = 20 * 1024 * 1024
"""Most bytes that are new in one request; further attachments are named instead of shown."""


class ArtifactContents:
    """Reads images and audio for requests.

    Attributes:
        store: where they lie; None if the application keeps no artifacts.
    """

    def __init__(self) -> None:
        self.store: ArtifactStore | None = None

    async def read(self, parts: Sequence[AttachmentPart]) -> Mapping[str, bytes]:
        """The content in base64 by id, without what cannot be had.

        What has gone since it was said must not stop a conversation: its place is taken by a line
        of text, which then stays, so that the beginning of the conversation does not change.
        """
        read: dict[str, bytes] = {}
        room = MAX_NEW_BYTES
        for part in parts:
            if self.store is None or part.artifact_id in read:
                continue
            content = await self._content(self.store, part)
            if content is not None and len(content) <= room:
                room -= len(content)
                read[part.artifact_id] = await anyio.to_thread.run_sync(b64encode, content)
        return read

    @staticmethod
    async def _content(store: ArtifactStore, part: AttachmentPart) -> bytes | None:
        try:
            found = await store.open(part.artifact_id)
        except ClassifiedError as error:
            log.warning("an attachment is named to the model instead of shown: %s", error.message)
            return None
        # What the message says may have been written by anybody.
        return found.body if found.metadata.media_type == part.media_type else None
