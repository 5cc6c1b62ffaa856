"""The documents keep their forms, and their links lead somewhere."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.repository.house import ROOT, files

DOCUMENTS = [
    *(path for path in ROOT.glob("*.md")),
    *(path for path in files("docs", "changes") if path.suffix == ".md"),
]
FRAGMENTS = [path for path in files("changes") if path.name != "README.md"]
FRAGMENT_NAME = re.compile(r"(\d+|\+[a-z0-9-]+)\.(headline|breaking|feature|fix|docs)(\.\d+)?\.md")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, made the way that code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_link_to_a_file_leads_to_a_file_and_a_heading(document: Path) -> None:
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (document.parent / path).resolve() if path else document
        assert linked.exists(), f"{name(document)} links to {target}"
        assert not anchor or anchor in anchors(linked), f"{name(document)} links to {target}"


@pytest.mark.timeout(300)
def test_a_reader_with_a_strict_type_checker_can_copy_every_block(tmp_path: Path) -> None:
    """The blocks of a document are one program, which may use a name again for another thing."""
    for document in DOCUMENTS:
        blocks = re.findall(r"^```python\n(.*?)^```", document.read_text("utf-8"), re.M | re.S)
        program = tmp_path / f"{name(document).replace('/', '_').replace('-', '_')[:-3]}.py"
        program.write_text("\n".join(blocks), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    checked = subprocess.run(
        [*command, "--allow-redefinition", "--disable-error-code=no-redef", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (tmp_path / "docs_guide_agent.py").stat().st_size
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=name)
def test_a_fragment_of_the_changelog_has_a_known_type_and_whole_sentences(fragment: Path) -> None:
    text = fragment.read_text(encoding="utf-8").strip()

    assert FRAGMENT_NAME.fullmatch(fragment.name)
    assert text.endswith(".")
    assert text[0].isupper() or text[0] == "`"


def test_the_fragments_make_a_changelog() -> None:
    draft = subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "0.0.0"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    # The draft wraps its lines, so words are compared and not lines.
    words = " ".join(draft.split())
    for fragment in FRAGMENTS:
        text = " ".join(fragment.read_text(encoding="utf-8").split())
        assert text in words, name(fragment)


def test_every_decision_has_a_date_a_decision_and_a_reason() -> None:
    text = (ROOT / "docs/decisions.md").read_text(encoding="utf-8")
    _, *entries = text.split("\n## ")
    dates = [entry[:10] for entry in entries]

    for entry in entries:
        assert re.match(r"\d{4}-\d{2}-\d{2}: \S", entry), entry.splitlines()[0]
        assert "**Decision.**" in entry
        assert "**Reason.**" in entry
    assert dates == sorted(dates, reverse=True)


def test_every_extra_stands_in_the_policy_with_its_package() -> None:
    text = (ROOT / "docs/policy-dependencies.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([a-z0-9]+)` \| ([a-z0-9-]+) \|", text, re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {
        extra: re.split(r"[^a-z0-9-]", packages[0])[0]
        for extra, packages in project["optional-dependencies"].items()
    }

    assert listed == needed
