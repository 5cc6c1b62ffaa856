"""What a kill leaves on the disk: a Session's file up to any of its commits."""

import shutil
from pathlib import Path


def lines(folder: Path) -> list[bytes]:
    """The lines of the one Session in a folder."""
    return _file(folder).read_bytes().splitlines(keepends=True)


def image(folder: Path, count: int) -> Path:
    """A copy of the folder as it was when its Session had so many lines."""
    copy = folder.with_name(f"{folder.name}-{count}")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    _file(copy).write_bytes(b"".join(lines(folder)[:count]))
    return copy


def image_after(folder: Path, label: str, number: int = 1) -> Path:
    """The same, when the commits with that label had been made so often."""
    made = [n for n, line in enumerate(lines(folder), 1) if f'"runtime-{label}-'.encode() in line]
    return image(folder, made[number - 1])


def _file(folder: Path) -> Path:
    (path,) = folder.glob("*.jsonl")
    return path
