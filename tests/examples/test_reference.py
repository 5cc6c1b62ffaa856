"""The reference agent: it is built from the environment, and needs none of it to be built."""

import subprocess
import sys
from pathlib import Path

import pytest

from agentslot import Application
from agentslot._render import render
from agentslot.interaction import GATEWAY_CHANNELS, InProcessChannel
from agentslot.standardagent import POLICY_GUARDS
from agentslot.tool import TOOLS
from examples import reference

ROOT = Path(__file__).parents[2]


@pytest.fixture
def application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Application:
    for name in ("AGENTSLOT_API_KEY", "AGENTSLOT_BASE_URL", "AGENTSLOT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AGENTSLOT_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("AGENTSLOT_SESSIONS", str(tmp_path / "sessions"))
    return reference.application()


def test_it_builds_without_a_key_and_writes_nothing(
    application: Application, tmp_path: Path
) -> None:
    assembly = application.build()

    assert {"file_read", "file_write", "file_edit", "bash"} <= assembly[TOOLS].keys()
    assert list(assembly[GATEWAY_CHANNELS]) == ["api", "cli"]
    assert len(assembly[POLICY_GUARDS]) == 1
    assert list(tmp_path.iterdir()) == []


async def test_it_starts_and_stops_without_network_and_key(
    application: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "nothing").open("w+", encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        async with application.start() as runtime:
            channel = runtime.assembly[GATEWAY_CHANNELS]["api"]
            assert isinstance(channel, InProcessChannel)
            session = await channel.create_session(agent="reference", workspace="w")
            view = await session.view()

    assert view.model_config.model == "gpt-5-mini"
    assert len(list((tmp_path / "sessions").glob("*.jsonl"))) == 2  # ours and the terminal's


@pytest.mark.parametrize(
    ("style", "start"),
    [("tree", "assembly"), ("mermaid", "flowchart"), ("json", "{"), ("html", "<!doctype html>")],
)
def test_the_command_describes_it_in_each_format(style: str, start: str) -> None:
    command = ["describe", "examples.reference:application", "--format", style]
    done = subprocess.run(
        [sys.executable, "-m", "agentslot", *command],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout.lower().startswith(start)
    for module in ("session.file", "model.openai-compatible.openai", "tool.bash", "policy"):
        assert module in done.stdout


def test_the_picture_in_the_readme_shows_what_is_built(application: Application) -> None:
    """Draw it anew: agentslot describe examples.reference:application --format svg."""
    drawn = render(application.build().describe(), "svg", title="reference")
    assert (ROOT / "docs/reference-agent.svg").read_text(encoding="utf-8").strip() == drawn.strip()
