"""`scripts/bench NAME [--json] [--plot FILE.svg]`."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import benchmarks
from benchmarks.__main__ import main

TRIAL = """
def rows():
    print("warming up")
    for turns in (10, 50):
        yield {"name": "peer", "value": 100.0 + turns, "unit": "us", "turns": turns}
        yield {"name": "ours", "value": 20.5, "unit": "us", "turns": turns,
               "ratio": 20.5 / (100 + turns), "against": "peer"}
"""
PLAIN = 'def rows():\n    return [{"name": "import", "value": 1234.5, "unit": "us"}]\n'


@pytest.fixture(autouse=True)
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two benchmarks of the test's own beside the real ones."""
    (tmp_path / "trial_turns.py").write_text(TRIAL, encoding="utf-8")
    (tmp_path / "trial_plain.py").write_text(PLAIN, encoding="utf-8")
    monkeypatch.setattr(benchmarks, "__path__", [*benchmarks.__path__, str(tmp_path)])


def test_json_prints_one_object_a_line_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trial_turns", "--json"]) == 0

    out, err = capsys.readouterr()
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["name"], row["turns"]) for row in rows] == [
        ("peer", 10),
        ("ours", 10),
        ("peer", 50),
        ("ours", 50),
    ]
    assert set(rows[1]) == {"name", "value", "unit", "turns", "ratio", "against"}
    assert "warming up" in err


def test_without_json_a_table_shows_the_columns_that_are_filled(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["trial_turns"])
    assert capsys.readouterr().out.splitlines()[:3] == [
        "name  turns  value  unit  against",
        "peer     10    110  us",
        "ours     10   20.5  us    0.19 x peer",
    ]

    main(["trial_plain"])
    assert capsys.readouterr().out.splitlines() == ["name    value  unit", "import  1,234  us"]


def test_an_unknown_name_lists_the_names_and_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["trail_turns"])

    assert exit_.value.code == 2
    assert "trial_plain, trial_turns" in capsys.readouterr().err


def test_a_plot_is_an_svg_with_one_line_a_name(tmp_path: Path) -> None:
    picture = tmp_path / "cost.svg"

    assert main(["trial_turns", "--plot", str(picture)]) == 0

    root = ET.fromstring(picture.read_text(encoding="utf-8"))
    svg = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{svg}polyline")) == 2
    assert {"peer", "ours"} <= {text.text for text in root.iter(f"{svg}text")}


def test_rows_without_turns_cannot_be_plotted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "cost.svg"

    assert main(["trial_plain", "--plot", str(picture)]) == 1

    assert not picture.exists()
    assert "no row of trial_plain has turns" in capsys.readouterr().err
