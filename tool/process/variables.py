"""The environment that a command inherits: ours, without what looks like a secret.

This is a mitigation and no wall: a command can still read the files of its user.
"""

from collections.abc import Mapping

_PREFIXES = (
    "AGENTKIT_", "AGENTSLOT_", "ANTHROPIC_", "AWS_", "AZURE_OPENAI_", "COHERE_", "DEEPSEEK_",
    "FIREWORKS_", "GEMINI_", "GOOGLE_", "GROQ_", "MISTRAL_", "OPENAI_", "OPENROUTER_",
    "TOGETHER_", "XAI_",
)  # fmt: skip
_SUFFIXES = (
    "_API_KEY", "_AUTH", "_CREDENTIALS", "_KEY", "_PASS", "_PASSWORD", "_PAT", "_SECRET", "_TOKEN",
)  # fmt: skip
_NAMES = frozenset({"API_KEY", "PASSWORD", "SECRET", "TOKEN"})
_KEPT = frozenset({"AWS_REGION", "PATH"})

_UNATTENDED = {"GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "PAGER": "cat", "TERM": "dumb"}


def reduced_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Copy an environment without credentials, set up for commands that nobody watches.

    Dropped, whatever their case: variables of model providers and clouds (`OPENAI_…`, `AWS_…`
    but not `AWS_REGION`), names that end like a secret (`…_TOKEN`, `…_KEY`, `…_PASSWORD`), and
    bare names such as `TOKEN`. Pagers and git's password prompt are switched off.
    """
    kept = {name: value for name, value in environment.items() if not _is_secret(name.upper())}
    return kept | _UNATTENDED


def _is_secret(name: str) -> bool:
    if name in _KEPT:
        return False
    return name in _NAMES or name.startswith(_PREFIXES) or name.endswith(_SUFFIXES)
