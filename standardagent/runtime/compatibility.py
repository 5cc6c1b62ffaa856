"""What a model would not be shown of what is attached in a Session."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from agentslot.session import AttachmentPart, Fact, History, Message, Modality, ToolResult

_MODALITIES = {"image": Modality.IMAGE, "audio": Modality.AUDIO}


def unreadable_attachments(
    history: History, readable: Collection[Modality]
) -> Mapping[Modality, int]:
    """How many attachments of each modality a model cannot read that reads these modalities.

    What no model reads, such as an archive, is always shown as a text and is not counted.
    """
    types = (media_type for fact in history for media_type in _attached(fact))
    modalities = (_MODALITIES.get(media_type.partition("/")[0]) for media_type in types)
    return Counter(each for each in modalities if each is not None and each not in readable)


def _attached(fact: Fact) -> Iterator[str]:
    match fact.payload:
        case Message(parts=parts):
            yield from (part.media_type for part in parts if isinstance(part, AttachmentPart))
        case ToolResult(artifacts=artifacts):
            yield from (artifact.media_type for artifact in artifacts)
        case _:
            return
