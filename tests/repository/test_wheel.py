"""What a user installs: built through the sdist, it holds the tree and claims one name."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.repository.house import PACKAGES, ROOT, files
from tests.vendor import vendor


def run(*command: str | Path, cwd: Path) -> str:
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel made from it without a network."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-Pm", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel; its dependencies come from ours."""
    folder = tmp_path_factory.mktemp("user") / "venv"
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = ("--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel)
    run(sys.executable, "-Pm", "pip", *install, cwd=folder)
    site = run(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder
    ).strip()
    # The path files in that folder are not read a second time, so the checkout stays out.
    Path(site, "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python


def project_files() -> set[str]:
    """The files of the packages, under the names by which they are imported."""
    below = {path.relative_to(ROOT).as_posix() for path in files("agentslot")}
    beside = {f"agentslot/{path.relative_to(ROOT).as_posix()}" for path in files(*PACKAGES)}
    return (below - {f"agentslot/{package}" for package in PACKAGES}) | beside


def quick_start() -> str:
    """The Python block of the README that follows the mark `<!-- quick start -->`."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    marked = readme.partition("<!-- quick start -->")[2]
    return marked.partition("```python\n")[2].partition("\n```")[0]


def test_the_wheel_holds_the_same_files_as_the_tree(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}

    assert packed == project_files()
    assert "agentslot/py.typed" in packed


def test_the_wheel_claims_no_top_level_name_but_agentslot(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}

    assert {top for top in tops if not top.endswith(".dist-info")} == {"agentslot"}


def test_the_sdist_brings_what_the_tests_need_and_no_link(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    names = {member.name.partition("/")[2] for member in members}

    assert {
        "pyproject.toml",
        "README.md",
        "conftest.py",
        "scripts/test",
        "tests/shared.py",
    } <= names
    assert not [member.name for member in members if member.issym()]


def test_the_quick_start_runs_beside_a_users_model_and_session(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model.py").write_text("OWNER = 'the user'\n", encoding="utf-8")
    (tmp_path / "session").mkdir()
    (tmp_path / "session/notes.py").write_text("OWNER = 'the user'\n", encoding="utf-8")
    script = tmp_path / "quick_start.py"
    script.write_text(
        "import model, session.notes\n"
        "assert model.OWNER == session.notes.OWNER == 'the user'\n"
        "import agentslot\n"
        f"assert agentslot.__file__.startswith({str(installed.parents[1])!r})\n"
        f"{quick_start()}\n",
        encoding="utf-8",
    )

    with vendor() as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "a key for the vendor on this machine")
        printed = run(installed, "-W", "error", script, cwd=tmp_path)

    assert printed == "2+2 is 4\n"


def test_a_checkout_without_symbolic_links_imports_all_the_same(tmp_path: Path) -> None:
    for path in files("agentslot", *PACKAGES):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    for package in PACKAGES:  # what git writes in place of a link
        (tmp_path / "agentslot" / package).write_text(f"../{package}", encoding="utf-8")
    script = tmp_path / "all.py"
    script.write_text(
        "import sys\n"
        f"sys.path.append({sysconfig.get_path('purelib')!r})\n"
        f"import {', '.join(f'agentslot.{package}' for package in PACKAGES)}\n"
        "print(agentslot.session.__file__)\n",
        encoding="utf-8",
    )

    assert run(sys.executable, script, cwd=tmp_path).strip().startswith(str(tmp_path))
