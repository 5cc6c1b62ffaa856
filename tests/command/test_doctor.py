"""`agentslot doctor`."""

import json
import os
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from agentslot.session import FileStore
from agentslot.standardagent.command import doctor, main
from agentslot.standardagent.command.places import sessions_folder_of

ROOT = Path(__file__).parents[2]
BACKENDS = ("bash", "ripgrep", "git", "bubblewrap", "docker", "powershell")


@pytest.fixture(autouse=True)
def settings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    for name in ("AGENTSLOT_BASE_URL", "AGENTSLOT_MODEL", "AGENTSLOT_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def checks(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, str]]:
    main(["doctor", "--json"])
    return {check["subject"]: check for check in json.loads(capsys.readouterr().out)["checks"]}


def test_a_healthy_machine_gets_a_table_and_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["python", "ok"]
    assert any(line.startswith("AGENTSLOT_MODEL") and " -  " in line for line in lines)


def test_values_of_variables_are_never_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGENTSLOT_API_KEY", "sk-secret")
    assert checks(capsys)["AGENTSLOT_API_KEY"]["detail"] == "set"
    main(["doctor"])
    assert "sk-secret" not in capsys.readouterr().out


def test_what_is_missing_names_the_extra_and_what_is_used_instead(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "version", _nothing_installed)
    found = checks(capsys)
    assert found["rich"]["status"] == "missing"
    assert "pip install agentslot[cli]" in found["rich"]["detail"]
    assert found["rich"]["instead"] == "plain text"


def test_something_needed_that_is_missing_gives_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "version", _nothing_installed)
    assert main(["doctor"]) == 1
    assert "pydantic            BROKEN  pip install pydantic" in capsys.readouterr().out


def test_programs_that_are_not_there_have_a_substitute(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    found = checks(capsys)
    instead = {name: found[name]["instead"] for name in BACKENDS}
    assert [found[name]["status"] for name in BACKENDS] == ["missing"] * len(BACKENDS)
    assert all(instead.values())
    assert instead["ripgrep"] == "our own search alone"


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def test_programs_that_are_there_show_their_version(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    program(folder, "rg", "echo ripgrep 15.2.0")
    program(folder, "git", "exit 3")
    program(folder, "docker", "echo Docker version 28.2.2, build e6534b4")
    program(folder, "powershell", "echo PowerShell 7.5.1")
    found = checks(capsys)
    assert found["ripgrep"]["detail"] == "15.2.0, searching large trees"
    assert found["git"]["detail"].startswith(f"{folder / 'git'}, ")
    assert found["docker"]["detail"] == "28.2.2, commands in containers"
    assert found["powershell"]["detail"].startswith("7.5.1, ")


def test_the_ripgrep_of_the_extra_is_found_beside_python(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bin").mkdir()
    program(folder / "bin", "rg", "echo ripgrep 15.2.0")
    monkeypatch.setattr(sys, "executable", str(folder / "bin/python"))
    monkeypatch.setenv("PATH", str(folder))
    assert checks(capsys)["ripgrep"]["status"] == "ok"


def test_programs_that_are_there_and_of_no_use_are_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A client without an engine, and a sandbox that the machine does not allow."""
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    program(folder, "docker", "case $1 in info) exit 1 ;; *) echo 28.2.2 ;; esac")
    program(folder, "bwrap", "echo 'No permissions to create new namespace' >&2; exit 1")
    found = checks(capsys)
    assert found["docker"]["status"] == found["bubblewrap"]["status"] == "missing"
    assert "no engine answers" in found["docker"]["detail"]
    assert "No permissions" in found["bubblewrap"]["detail"]
    assert found["docker"]["instead"] == "bubblewrap, or no sandbox"


def test_a_session_folder_that_cannot_be_made_is_broken(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "file"))
    assert checks(capsys)["session folder"]["status"] == "broken"
    assert not (folder / "state").exists()


def test_a_store_that_is_in_use_is_named_with_its_holder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checks(capsys)["sessions here"]["detail"] == "none yet"
    store = sessions_folder_of(folder)
    store.mkdir(parents=True)
    assert checks(capsys)["sessions here"]["detail"] == "0, nobody uses them"

    async def while_in_use() -> dict[str, str]:
        async with FileStore(store):
            done = await anyio.to_thread.run_sync(checks, capsys)
            return done["sessions here"]

    found = anyio.run(while_in_use)
    assert found["status"] == "missing"
    assert f"in use by process {os.getpid()}" in found["detail"]


def test_the_local_model_is_named_with_its_file_or_the_way_to_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = checks(capsys)["local model"]
    assert (found["status"], "agentslot chat --local" in found["detail"]) == ("missing", True)
    file = folder / "cache" / "agentslot" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"")
    assert checks(capsys)["local model"] == {
        "subject": "local model",
        "status": "ok",
        "detail": str(file),
        "instead": "",
    }


def test_every_extra_of_the_package_is_known_to_the_doctor() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {extra for extra, _, _ in doctor.EXTRAS.values()} == set(
        project["optional-dependencies"]
    )


def _nothing_installed(distribution: str) -> str:
    raise PackageNotFoundError(distribution)
