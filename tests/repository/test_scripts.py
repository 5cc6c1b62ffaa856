"""The commands in scripts/ and what they answer to wrong arguments."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.repository.house import ROOT

SCRIPTS = sorted(path for path in (ROOT / "scripts").iterdir() if path.is_file())
COMMANDS = [path for path in SCRIPTS if not path.name.startswith("_")]


def run(
    script: str, *arguments: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "scripts" / script, *arguments],
        cwd="/",
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_well_formed(script: Path) -> None:
    subprocess.run(["bash", "-n", script], check=True)


@pytest.mark.parametrize("script", COMMANDS, ids=lambda path: path.name)
def test_a_command_can_be_executed(script: Path) -> None:
    assert os.access(script, os.X_OK)
    assert script.read_text(encoding="utf-8").startswith("#!/usr/bin/env bash\n")


def test_the_reliability_gate_lists_its_stages_and_runs_none() -> None:
    result = run("reliability-gate", "--list")

    assert result.returncode == 0
    assert result.stdout.splitlines() == [
        "agentslot:format",
        "agentslot:fault-injection",
        "agentslot:race",
        "agentslot:vet",
        "agentslot:build",
    ]


@pytest.mark.parametrize("arguments", [("--lst",), ("format",), ("--list", "again")])
def test_the_reliability_gate_refuses_other_arguments(arguments: tuple[str, ...]) -> None:
    result = run("reliability-gate", *arguments)

    assert result.returncode == 2
    assert "usage" in result.stderr


def test_an_unknown_stage_is_refused_with_the_names_of_all() -> None:
    result = run("test", "lnt")

    assert result.returncode == 2
    assert "unknown stage: lnt" in result.stderr
    assert "format lint layers types wheel tests" in result.stderr


@pytest.mark.parametrize("script", ["reliability-gate", "test", "test-versions", "update-catalog"])
def test_a_command_that_is_asked_for_help_does_nothing_else(script: str, tmp_path: Path) -> None:
    venv = tmp_path / "venv"

    result = run(script, "--help", environment={"AGENTSLOT_VENV": str(venv)})

    assert (result.returncode, result.stderr) == (0, "")
    assert f"scripts/{script}" in result.stdout
    assert "#" not in result.stdout
    assert not venv.exists()


def test_updating_the_catalog_takes_no_arguments(tmp_path: Path) -> None:
    venv = tmp_path / "venv"

    result = run("update-catalog", "openai", environment={"AGENTSLOT_VENV": str(venv)})

    assert (result.returncode, result.stderr) == (2, "usage: scripts/update-catalog\n")
    assert not venv.exists()


def test_a_folder_that_is_no_virtual_environment_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear", encoding="utf-8")

    result = run("test", "format", environment={"AGENTSLOT_VENV": str(tmp_path)})

    assert result.returncode == 1
    assert "is there, and is no virtual environment" in result.stderr
    assert (tmp_path / "letters.txt").read_text(encoding="utf-8") == "dear"


def test_an_unsuitable_python_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    environment = {"AGENTSLOT_VENV": str(venv), "AGENTSLOT_PYTHON": "/bin/false"}

    result = run("test", "format", environment=environment)

    assert result.returncode == 1
    assert "AGENTSLOT_PYTHON=/bin/false is no Python 3.11 or newer" in result.stderr
    assert not venv.exists()
