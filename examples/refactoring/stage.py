"""What the refactoring is played on: a copy of this repository, and a Python with its tests."""

import difflib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from examples.refactoring.model.renaming import used_names

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the agent works.

    Attributes:
        project: the copy.
        sessions: folder of its Sessions.
        changes: folder in which its changes to files are recorded.
        programs: folder with the Python that its shell finds.
    """

    project: Path
    sessions: Path
    changes: Path
    programs: Path

    def environment(self, model: Mapping[str, str]) -> Mapping[str, str]:
        """The variables that the reference agent reads, and a PATH with our Python."""
        return {
            **model,
            "AGENTSLOT_WORKSPACE": str(self.project),
            "AGENTSLOT_SESSIONS": str(self.sessions),
            "AGENTSLOT_CHANGES": str(self.changes),
            "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
        }

    def changed(self) -> Iterator[tuple[Path, str, str]]:
        """Python files that differ from the original: path, text before, text now."""
        for path in sorted(self.project.rglob("*.py")):
            relative = path.relative_to(self.project)
            before, now = _text(ROOT / relative), _text(path)
            if before != now:
                yield relative, before, now

    def differences(self) -> str:
        """What differs from the original, line by line."""
        lines: list[str] = []
        for path, before, now in self.changed():
            texts = before.splitlines(keepends=True), now.splitlines(keepends=True)
            lines += difflib.unified_diff(*texts, str(path), str(path), n=0)
        return "".join(lines)

    def run_tests(self, name: str) -> tuple[bool, str]:
        """Run the tests that use a name: whether they pass, and the last line printed."""
        tests = sorted(self.project.glob("tests/**/test_*.py"))
        users = [str(path) for path in tests if name in used_names(_text(path))]
        if not users:
            return False, f"no test uses {name}"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *users],
            cwd=self.project,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return done.returncode == 0, (done.stdout or done.stderr).strip().rpartition("\n")[2]


@contextmanager
def set_up(*, keep: bool) -> Generator[Stage]:
    """Copy what git tracks of this repository to a temporary folder, which stays if `keep` says so.

    Raises:
        SystemExit: this is no clone.
    """
    if not (ROOT / ".git").exists():
        raise SystemExit(f"{ROOT} is no clone of the repository; the refactoring needs one.")
    folder = Path(tempfile.mkdtemp(prefix="agentslot-refactoring-")).resolve()
    try:
        stage = Stage(folder / "project", folder / "sessions", folder / "changes", folder / "bin")
        _copy(stage.project)
        stage.programs.mkdir()
        python = stage.programs / "python"
        python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
        python.chmod(0o755)
        yield stage
    finally:
        if not keep:
            shutil.rmtree(folder)


def _copy(target: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=True
    )
    for path in listed.stdout.split("\0")[:-1]:
        if os.path.lexists(ROOT / path):
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, target / path, follow_symlinks=False)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
