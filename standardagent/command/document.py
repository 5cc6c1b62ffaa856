"""Writing what was asked for: to a file, or to standard output."""

import sys
from pathlib import Path

from agentslot.standardagent.command.failure import CommandError


def write(text: str, path: Path | None) -> None:
    """Write UTF-8, which the formats name as their encoding, wherever it goes.

    Raises:
        CommandError: the file cannot be written.
    """
    if path is None:
        sys.stdout.buffer.write(text.encode())
        return
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise CommandError(f"cannot write {str(path)!r}: {error.strerror}") from error
    print(f"wrote {path}", file=sys.stderr)
