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
        self.ran: list[str] = []
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT, root, dirs_exist_ok=True, ignore=ignore)

    def run(self, function: JsonObject) -> str:
        """Run one call; return its result's JSON."""
        name, arguments = function["name"], json.loads(function["arguments"])
        self.ran.append(name)
        operations: dict[str, Callable[..., JsonObject]] = {
            "bash": self.bash,
            "file_read": self.read,
            "file_edit": self.edit,
        }
        return json.dumps(operations[name](**arguments))

    def read(self, path: str) -> JsonObject:
        text = (self.root / path).read_text(encoding="utf-8")
        return {"path": path, "content": text, "sha256": _sha256(text)}

    def edit(self, path: str, old_text: str, new_text: str, expected_sha256: str) -> JsonObject:
        text = (self.root / path).read_text(encoding="utf-8")
        assert _sha256(text) == expected_sha256
        assert text.count(old_text) == 1
        changed = text.replace(old_text, new_text)
        (self.root / path).write_text(changed, encoding="utf-8")
        return {"path": path, "sha256": _sha256(changed)}

    def bash(self, command: str) -> JsonObject:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-c", command],
            cwd=self.root,
            env={"PATH": path},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return {"exit_code": done.returncode, "stdout": done.stdout, "stderr": done.stderr}

    def passes_its_tests(self) -> bool:
        return bool(self.bash("python -m unittest")["exit_code"] == 0)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
