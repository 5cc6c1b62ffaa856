"""`agentslot catalog slots`: the map of the standard slots."""

import json

import pytest

from agentslot.componentcatalog import components_page, standard
from agentslot.standardagent.command import main


def shown(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert main(["catalog", "slots", *options]) == 0
    return capsys.readouterr().out


def test_the_table_has_a_line_for_each_slot_under_its_domain(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = shown(capsys).splitlines()
    assert lines[0] == "runtime"
    assert lines[1].split(None, 3)[:3] == ["agent.loop", "one", "conformant"]
    assert lines[1].endswith("Decides what a run does next: ask the model, run tools, end.")
    assert sum(line.startswith("  ") for line in lines) == len(standard())


def test_json_is_the_whole_map(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(shown(capsys, "--format", "json"))
    assert document["schema"] == "agentslot.component-catalog/v1"
    rows = {row["id"]: row for row in document["components"]}
    assert rows["session.store"]["contract"] == {
        "package": "agentslot.session",
        "symbol": "SessionStore",
        "slot": "SESSION_STORE",
    }
    assert rows["session.store"]["profiles"] == [{"name": "standard-agent", "minimum": 1}]


def test_markdown_is_the_page_of_the_documentation(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, "--format", "markdown") == components_page()
