"""What an evaluator reads of a conversation: its newest part, as text of a bounded length."""

from agentslot.model import Input, Transcript
from agentslot.model.rendering import render_attachment, render_result
from agentslot.session import AttachmentPart, Message, TextPart, ToolCall

_ELEMENT_CHARS = 4_000


def evidence(transcript: Transcript, max_chars: int) -> str:
    """The end of a conversation, oldest first. Long messages and results lose their middle.

    Args:
        transcript: the conversation.
        max_chars: most characters, at least one element is shown whatever its length.
    """
    shown: list[str] = []
    left = max_chars
    for position in range(len(transcript) - 1, -1, -1):
        text = _shortened(_rendered(transcript[position]))
        left -= len(text)
        if shown and left < 0:
            shown.append("[what was before is left out]")
            break
        shown.append(text)
    return "\n\n".join(reversed(shown))


def _rendered(element: Input) -> str:
    match element:
        case Message(role=role, parts=parts):
            texts = [part.text for part in parts if isinstance(part, TextPart)]
            texts += [render_attachment(p) for p in parts if isinstance(p, AttachmentPart)]
            return f"{role}: " + "\n".join(texts)
        case ToolCall(name=name, arguments=arguments):
            return f"call of {name}: {arguments}"
        case result:
            return f"result: {render_result(result)}"


def _shortened(text: str) -> str:
    if len(text) <= _ELEMENT_CHARS:
        return text
    half = _ELEMENT_CHARS // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"
