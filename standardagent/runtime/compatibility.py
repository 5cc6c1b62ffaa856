"""What a Session would lose with another model: attachments that the model cannot read."""

from collections.abc import Iterator

from agentslot.interaction import CompatibilityError
from agentslot.model import ExecutionCapabilities
from agentslot.session import (
    AttachmentPart,
    Message,
    Modality,
    ModelConfig,
    SessionState,
    ToolResult,
)

_MODALITIES = {"image": Modality.IMAGE, "audio": Modality.AUDIO}
"""By the first half of a media type; what has another one is shown to no model at all."""


def check_compatibility(
    state: SessionState, config: ModelConfig, capabilities: ExecutionCapabilities
) -> None:
    """Refuse a model that cannot read what the Session holds.

    Raises:
        CompatibilityError: what it would lose.
    """
    missing = set(_MODALITIES.values()) - capabilities.input_modalities
    if not missing:
        return
    lost = dict.fromkeys((m for m in Modality if m in missing), 0)
    for media_type in _attached(state):
        modality = _MODALITIES.get(media_type.partition("/")[0])
        if modality is not None and modality in lost:
            lost[modality] += 1
    losses = tuple((modality, count) for modality, count in lost.items() if count)
    if losses:
        raise CompatibilityError(config.model, losses)


def _attached(state: SessionState) -> Iterator[str]:
    """Media types of all that messages, results and what waits in the queue refer to."""
    for fact in state.history:
        payload = fact.payload
        if isinstance(payload, Message):
            yield from _attached_to(payload)
        elif isinstance(payload, ToolResult):
            yield from (artifact.media_type for artifact in payload.artifacts)
    for item in state.queue:
        yield from _attached_to(item.message)


def _attached_to(message: Message) -> Iterator[str]:
    return (part.media_type for part in message.parts if isinstance(part, AttachmentPart))
