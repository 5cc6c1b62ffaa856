"""The map says what the packages declare, and the page says what the map says."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentslot.componentcatalog import Component, at_least_contracted, components_page, standard
from agentslot.interaction import InProcessChannel
from agentslot.session.conformance import CONTRACT as SESSION_STORE_SUITE
from agentslot.standardagent.command.suites import SUITES
from tests.repository.house import PACKAGES, ROOT, files
from tests.standardagent.agents import ScriptedModel, scripted_application

INTERNAL = "standardagent.internal."


def declared() -> Iterator[tuple[str, str, str]]:
    """Id, kind and place of every slot that a package declares for others to fill."""
    for path in files(*PACKAGES):
        if path.suffix == ".py":
            yield from _declared_in(path)


def _declared_in(path: Path) -> Iterator[tuple[str, str, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(
                func=ast.Subscript(value=ast.Name(id="One" | "Many" | "Chain" as kind)),
                args=[ast.Constant(value=str(slot_id))],
            ) if not slot_id.startswith(INTERNAL):
                yield slot_id, kind.lower(), path.relative_to(ROOT).as_posix()
            case _:
                pass


def test_every_slot_that_a_package_declares_stands_in_the_map_with_its_contract() -> None:
    rows = {row.id: row for row in standard()}
    found = {slot_id: (kind, place) for slot_id, kind, place in declared()}
    unknown = {slot_id: found[slot_id] for slot_id in found if slot_id not in rows}
    assert not unknown, "no standard slots have these ids"
    other = {slot_id: kind for slot_id, (kind, _) in found.items() if rows[slot_id].kind != kind}
    assert not other, "the map says that these are of another kind"
    promoted = [slot_id for slot_id in found if rows[slot_id].contract is None]
    assert not promoted, (
        "give these rows of componentcatalog/rows.py _CONTRACTED and a Contract, then write the"
        " page anew: python -m agentslot catalog slots --format markdown > docs/components.md"
    )


@pytest.mark.parametrize("row", at_least_contracted(), ids=lambda row: row.id)
def test_every_contract_in_the_map_can_be_imported_from_where_it_says(row: Component) -> None:
    assert row.contract is not None
    package = importlib.import_module(row.contract.package)
    slot = getattr(package, row.contract.slot)
    assert (slot.id, slot.kind) == (row.id, row.kind)
    assert slot.value_type is getattr(package, row.contract.symbol)


def test_the_profile_in_the_map_is_the_one_that_a_standard_agent_is_built_with() -> None:
    application = scripted_application(ScriptedModel([]), InProcessChannel())
    profile = application.build().describe().profile
    assert {(each.slot, each.minimum) for each in profile} == {
        (row.id, requirement.minimum) for row in standard() for requirement in row.profiles
    }


def test_the_suites_in_the_map_are_those_that_the_command_runs() -> None:
    claimed = {row.id: row.evidence.suite for row in standard() if row.evidence.suite}
    assert claimed == {name: suite.contract for name, suite in SUITES.items()}
    assert claimed["session.store"] == SESSION_STORE_SUITE


def test_the_page_is_what_the_map_says() -> None:
    page = (ROOT / "docs/components.md").read_text(encoding="utf-8")
    assert page == components_page(), (
        "write it anew: python -m agentslot catalog slots --format markdown > docs/components.md"
    )
