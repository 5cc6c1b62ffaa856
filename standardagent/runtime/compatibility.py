"""What a model would not be shown of what is attached in a Session."""

from collections.abc import Collection, Iterator, Mapping

from agentslot.session import AttachmentPart, Message, Modality, SessionState, ToolResult

_MODALITIES = {"image": Modality.IMAGE, "audio": Modality.AUDIO}


def unreadable_attachments(
    state: SessionState, readable: Collection[Modality]
) -> Mapping[Modality, int]:
    """How many attachments of each modality a model cannot read that reads these modalities.

    What no model reads, such as an archive, is always shown as a text and is not counted.
    """
    unreadable = [each for each in _MODALITIES.values() if each not in readable]
    if not unreadable:
        return {}
    found = [_MODALITIES.get(media_type.partition("/")[0]) for media_type in _attached(state)]
    return {each: found.count(each) for each in unreadable if each in found}


def _attached(state: SessionState) -> Iterator[str]:
    """Media types of all that messages, results and what waits in the queue refer to."""
    for fact in state.history:
        match fact.payload:
            case Message() as message:
                yield from _attached_to(message)
            case ToolResult(artifacts=artifacts):
                yield from (artifact.media_type for artifact in artifacts)
            case _:
                pass
    for item in state.queue:
        yield from _attached_to(item.message)


def _attached_to(message: Message) -> Iterator[str]:
    return (part.media_type for part in message.parts if isinstance(part, AttachmentPart))
