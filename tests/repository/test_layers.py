"""Each import contract breaks when the import that it forbids is written."""

import subprocess
import sys
from pathlib import Path

import pytest

CONFIGURATION = Path(__file__).parents[2] / "pyproject.toml"
LAYERS = "layers point downward, model and tool are siblings"
CORE = "the core imports none of the packages above it"
CATALOG_IMPORTS = "the component catalog imports nothing of ours"
CATALOG_IMPORTED = "only the command reads the component catalog"


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A tree with the shape of the project and no forbidden import."""
    sources = {
        "__init__": "from agentslot._errors import AgentSlotError\n",
        "__main__": "import agentslot.standardagent.command\n",
        "_errors": "class AgentSlotError(Exception): ...\n",
        "session.__init__": "from agentslot import AgentSlotError\n",
        "model.__init__": "import agentslot.session\n",
        "tool.__init__": "import agentslot.session\n",
        "interaction.__init__": "import agentslot.model\nimport agentslot.tool\n",
        "standardagent.__init__": "import agentslot.interaction\n",
        "standardagent.application": "",
        "standardagent.command": "import agentslot.componentcatalog\n",
        "componentcatalog.__init__": "from agentslot.componentcatalog import _rows\n",
        "componentcatalog._rows": "",
    }
    for module, source in sources.items():
        path = tmp_path / "agentslot" / (module.replace(".", "/") + ".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return tmp_path


def broken_contracts(house: Path) -> set[str]:
    """Runs import-linter with the project's contracts over another tree."""
    result = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache", CONFIGURATION],
        cwd=house,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = result.stdout.splitlines()
    broken = {line.removesuffix(" BROKEN") for line in lines if line.endswith(" BROKEN")}
    assert result.returncode == (1 if broken else 0), result.stdout + result.stderr
    return broken


def test_the_allowed_imports_keep_every_contract(house: Path) -> None:
    assert broken_contracts(house) == set()


@pytest.mark.parametrize(
    ("importer", "imported", "contract"),
    [
        ("session", "model", LAYERS),
        ("session", "interaction", LAYERS),
        ("model", "tool", LAYERS),
        ("tool", "model", LAYERS),
        ("tool", "interaction", LAYERS),
        ("interaction", "standardagent", LAYERS),
        ("_errors", "session", CORE),
        ("__init__", "standardagent", CORE),
        ("componentcatalog._rows", "session", CATALOG_IMPORTS),
        ("componentcatalog._rows", "_errors", CATALOG_IMPORTS),
        ("model", "componentcatalog", CATALOG_IMPORTED),
        ("standardagent", "componentcatalog", CATALOG_IMPORTED),
        ("standardagent.application", "componentcatalog", CATALOG_IMPORTED),
    ],
)
def test_a_forbidden_import_breaks_its_contract(
    house: Path, importer: str, imported: str, contract: str
) -> None:
    path = house / "agentslot" / importer.replace(".", "/")
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    path.write_text(
        f"{path.read_text(encoding='utf-8')}import agentslot.{imported}\n", encoding="utf-8"
    )

    assert contract in broken_contracts(house)


def test_a_name_of_the_core_is_also_forbidden_to_the_component_catalog(house: Path) -> None:
    rows = house / "agentslot/componentcatalog/_rows.py"
    rows.write_text("from agentslot import AgentSlotError\n", encoding="utf-8")

    assert broken_contracts(house) == {CATALOG_IMPORTS}
