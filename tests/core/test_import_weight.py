"""What importing the project brings along."""

import json
import subprocess
import sys

import pytest

ALLOWED = {
    "agentslot": "the project",
    "annotated-types": "brought by pydantic",
    "anyio": "concurrency on asyncio and trio",
    "idna": "brought by anyio",
    "pydantic": "validation at the edges",
    "pydantic-core": "brought by pydantic",
    "sniffio": "brought by anyio, on older versions",
    "typing-extensions": "brought by pydantic",
    "typing-inspection": "brought by pydantic",
}
"""Every distribution that an import may bring, and why. A dozen is the limit."""

MAX_DISTRIBUTIONS = 12

LOOK = """
import importlib, json, pkgutil, sys
from importlib.metadata import packages_distributions

before = set(sys.modules)
for name in sys.argv[1:]:
    importlib.import_module(name)
roots = {name.partition(".")[0] for name in set(sys.modules) - before}
packages = packages_distributions()
owners = {owner for root in roots for owner in packages.get(root, [])}
print(json.dumps(sorted(owner.lower().replace("_", "-") for owner in owners)))
"""

LOADED = """
import json, sys

for statement in sys.argv[1:]:
    exec(statement)
print(json.dumps([name for name in sys.modules if name.startswith("agentslot.")]))
"""

PACKAGES = """
import json, pkgutil, agentslot
found = pkgutil.iter_modules(agentslot.__path__, "agentslot.")
print(json.dumps(["agentslot", *(module.name for module in found if module.ispkg)]))
"""


def run(script: str, *arguments: str) -> list[str]:
    result = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, check=True, text=True
    )
    names: list[str] = json.loads(result.stdout)
    return names


def brought_by(*modules: str) -> set[str]:
    """The distributions whose modules are loaded after these imports, in a process of their own."""
    return set(run(LOOK, *modules))


def test_the_project_and_its_packages_bring_only_what_is_allowed() -> None:
    packages = [name for name in run(PACKAGES) if "._" not in name]
    assert {"agentslot", "agentslot.session", "agentslot.tool"} <= set(packages)

    brought = brought_by(*packages) | {"agentslot"}

    assert brought <= ALLOWED.keys()
    assert len(brought) <= MAX_DISTRIBUTIONS
    assert len(ALLOWED) <= MAX_DISTRIBUTIONS


@pytest.mark.parametrize("forbidden", ["httpx", "rich", "trio"])
def test_a_forbidden_distribution_would_be_noticed(forbidden: str) -> None:
    assert not brought_by("agentslot", forbidden) <= ALLOWED.keys()


def test_importing_the_core_loads_no_description_models() -> None:
    assert "pydantic" not in brought_by("agentslot")
    assert "pydantic" in brought_by("agentslot._description")


def loaded_by(*statements: str) -> set[str]:
    """Our modules that are loaded after these statements, in a process of their own."""
    return set(run(LOADED, *statements))


WIRES = {
    "AnthropicModule": "anthropic_messages",
    "GoogleModule": "google_generative_ai",
    "OllamaModule": "ollama_chat",
    "OpenAICompatibleModule": "openai_completions",
    "OpenAIResponsesModule": "openai_responses",
}


@pytest.mark.parametrize("module", WIRES)
def test_one_vendor_brings_no_other(module: str) -> None:
    loaded = loaded_by(f"from agentslot.model import {module}")

    wires = {name.split(".")[3] for name in loaded if name.startswith("agentslot.model.wires.")}
    assert wires & set(WIRES.values()) == {WIRES[module]}


def test_what_all_providers_have_in_common_brings_no_wire() -> None:
    loaded = loaded_by("import agentslot.model.provider")

    assert "agentslot.model.wireprovider" in loaded
    assert not {name for name in loaded for wire in WIRES.values() if wire in name}


def test_the_list_of_commands_is_shown_without_loading_what_they_do() -> None:
    loaded = loaded_by(
        "from agentslot.standardagent.command import main",
        "try: main([])\nexcept SystemExit: pass",
    )

    assert "agentslot.standardagent.command.program" in loaded
    assert not loaded & {"agentslot.session.state", "agentslot.model.contract"}
