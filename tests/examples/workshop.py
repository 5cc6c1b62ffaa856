"""The reference agent's tools in miniature, on a copy of the example project."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

JsonObject = dict[str, Any]  # wire data, checked by what the tests assert about it

PROJECT = Path(__file__).parents[2] / "examples" / "project"


class Workshop:
    """Runs the calls that a model makes and keeps what was run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.ran: list[str] = []
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT, root, dirs_exist_ok=True, ignore=ignore)

    def run(self, function: JsonObject) -> str:
        """Run one call; return the text of its result, as the tools of the same names write it."""
        name, arguments = function["name"], json.loads(function["arguments"])
        self.ran.append(name)
        operations: dict[str, Callable[..., str]] = {
            "bash": self.bash,
            "file_read": self.read,
            "file_edit": self.edit,
        }
        return operations[name](**arguments)

    def read(self, path: str) -> str:
        text = (self.root / path).read_text(encoding="utf-8")
        lines = text.count("\n")
        return f"{text}[lines 1-{lines} of {lines}, sha256 {_sha256(text)}]"

    def edit(self, path: str, edits: list[JsonObject], expected_sha256: str) -> str:
        text = (self.root / path).read_text(encoding="utf-8")
        assert _sha256(text) == expected_sha256
        for edit in edits:
            assert text.count(edit["old_string"]) == 1
            text = text.replace(edit["old_string"], edit["new_string"])
        (self.root / path).write_text(text, encoding="utf-8")
        return f"Edited {path}: 1 replacement.\n[sha256 {_sha256(text)}]"

    def bash(self, command: str) -> str:
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-c", command],
            cwd=self.root,
            env={"PATH": self.path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        return f"{done.stdout}[exit code {done.returncode}]"

    def passes_its_tests(self) -> bool:
        return self.bash("python -m unittest").endswith("[exit code 0]")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
