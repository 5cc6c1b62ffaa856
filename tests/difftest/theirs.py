"""Their side: the vendors' own clients, in an environment that is made on the first run."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks._peers import Peer, python_of
from tests.difftest.exchange import Exchange, recorder
from tests.difftest.scenarios import Scenario

CLIENTS = Peer(
    "clients",
    ("anthropic==2.14.0", "google-genai==3.6.1", "ollama==0.6.3", "openai==3.57.0"),
)
_SCRIPTS = {
    "openai-chat": "openai_chat",
    "openai-responses": "openai_responses",
    "anthropic": "anthropic_messages",
    "google": "google_genai",
    "ollama": "ollama_chat",
}
_SECONDS = 300

SPELLINGS = {
    "google": {
        "include_thoughts": "includeThoughts",
        "mime_type": "mimeType",
        "parameters_json_schema": "parametersJsonSchema",
        "thinking_budget": "thinkingBudget",
        "thinking_level": "thinkingLevel",
    }
}
"""Names that a client writes in another way, of which its server says that both are one."""


@dataclass(frozen=True, slots=True)
class Theirs:
    """What a vendor's client did.

    Attributes:
        requests: what it sent, by scenario.
        answers: what it made of each recorded answer, as JSON; null if it raised an error.
    """

    requests: Mapping[str, Exchange]
    answers: Mapping[str, bytes]


def ask(vendor: str, scenarios: Sequence[Scenario], recorded: Mapping[str, bytes]) -> Theirs:
    """Let the vendor's client send every scenario and read every recorded answer.

    Raises:
        RuntimeError: the client cannot be installed here, or its script failed.
    """
    named = {f"answer-{number}": name for number, name in enumerate(recorded)}
    with recorder({tag: recorded[name] for tag, name in named.items()}) as server:
        work: dict[str, Any] = {
            "url": server.url,
            "scenarios": [scenario.options() for scenario in scenarios],
            "answers": list(named),
        }
        read = _run(vendor, json.dumps(work))
        answers = {named[tag]: json.dumps(answer).encode() for tag, answer in read.items()}
        return Theirs(server.requests, answers)


def _run(vendor: str, work: str) -> dict[str, Any]:
    script = Path(__file__).parent / "clients" / f"{_SCRIPTS[vendor]}.py"
    done = subprocess.run(
        [str(python_of(CLIENTS)), str(script)],
        input=work,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    if done.returncode:
        raise RuntimeError(f"the client of {vendor} failed: {done.stderr.strip()[-600:]}")
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers
