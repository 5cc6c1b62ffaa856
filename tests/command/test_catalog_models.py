"""`agentslot catalog models`."""

import json
from decimal import Decimal

import pytest

from agentslot.model.catalog import embedded_catalog
from agentslot.standardagent.command import main


def test_models_of_a_vendor_are_listed_with_window_price_and_date(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["catalog", "models", "--vendor", "anthropic"]) == 0
    headings, *rows, last = capsys.readouterr().out.splitlines()
    assert headings.split()[:2] == ["model", "window"]
    [row] = [row for row in rows if row.startswith("anthropic/claude-opus-5-5 ")]
    assert row.split()[1:7] == ["1,000,000", "128,000", "4", "0.2", "20", "low"]
    assert len(rows) == len(embedded_catalog().vendors["anthropic"].models)
    assert f"{embedded_catalog().date}" in last


def test_without_a_vendor_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "models"]) == 0
    listed = capsys.readouterr().out
    assert all(f"\n{vendor}/" in listed for vendor in embedded_catalog().vendors)


def test_json_has_one_object_a_line_with_prices_as_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["catalog", "models", "--vendor", "openai", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    [row] = [row for row in rows if row["model"] == "gpt-5-mini"]
    assert row["vendor"] == "openai"
    assert row["window"] == 400_000
    assert Decimal(row["price"]["input"]) == Decimal("0.25")
    assert row["date"] == embedded_catalog().date.isoformat()


def test_an_unknown_vendor_is_refused_with_those_that_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["catalog", "models", "--vendor", "opnai"]) == 2
    assert "openai" in capsys.readouterr().err
