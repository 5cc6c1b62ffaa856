"""Recorded answers that a vendor's own client can read, too."""

from collections.abc import Mapping

from tests.shared import SHARED

# Some files hold several answers, one behind the other; the mark is what each begins with.
_MARKS = {
    "anthropic": b"event: message_start\n",
    "openai-responses": b"event: response.created\n",
}
_FOLDERS = {
    "openai-chat": (
        "alibaba",
        "deepseek",
        "groq",
        "huggingface",
        "mistral",
        "moonshotai",
        "openai_chat",
        "openrouter",
        "snowflake",
        "xai",
        "zai",
    ),
    "openai-responses": ("openai_responses", "bedrock_mantle"),
    "anthropic": ("anthropic",),
    "google": ("gemini", "gemini_vertex"),
}


def recorded(vendor: str) -> Mapping[str, bytes]:
    """The recorded streams of a vendor by name; none if the recordings are not here."""
    found: dict[str, bytes] = {}
    for folder in _FOLDERS.get(vendor, ()):
        for path in sorted((SHARED / "captures" / folder).glob("*.response.txt")):
            name = f"{folder}/{path.name.removesuffix('.response.txt')}"
            body = path.read_bytes()
            if body.startswith(b"{") or path.name.startswith("responses_"):
                continue  # no stream, or of another protocol
            answers = _split(body, _MARKS.get(vendor))
            for number, answer in enumerate(answers, 1):
                found[name if len(answers) == 1 else f"{name}-{number}"] = answer
    return found


def _split(body: bytes, mark: bytes | None) -> list[bytes]:
    if mark is None or not body.startswith(mark):
        return [body]
    return [mark + piece for piece in body.split(mark)[1:]]
