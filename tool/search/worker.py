"""The built-in search engine: a script of its own that needs only the standard library.

It runs as a child process. A regular expression that backtracks for ever then costs a process that
can be ended, and not the event loop of the application. It imports little, since it starts anew for
each search.

Standard input is one line of JSON (`Task`) and the paths to search, each ended by NUL, relative to
the open folder whose descriptor is the first argument. Standard output is JSON, see `main`.
"""

import json
import os
import re
import stat
import sys

PROBE_BYTES = 8192
MAX_FILE_BYTES = 64 * 1024 * 1024
SHOWN_BEFORE = 150
SHOWN = 500

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_ENDS_OF_TEXT = re.compile(r"\\[AZz]")  # they match in lines where they do not in the whole text

_NOT_PLAIN = (b"\0", b"\r", b"\x1c", b"\x1d", b"\x1e", b"\x1f")

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")

Line = tuple[int, str, bool]


class Task:
    """What to search for.

    Attributes:
        literals: texts that every match holds.
        most: matching lines to find.
    """

    def __init__(
        self, pattern: str, literals: list[str], ignore_case: bool, context: int, most: int
    ) -> None:
        self.context = context
        self.most = most
        self.reaches_ends = bool(_ENDS_OF_TEXT.search(pattern))
        self.regex = re.compile(pattern, _flags(ignore_case))
        self._quick = quick_regex(pattern, ignore_case)
        self._exact = [one.encode() for one in literals if not ignore_case or not _has_case(one)]
        self._low = [one.lower().encode() for one in literals if ignore_case and _has_case(one)]

    def is_hopeless(self, content: bytes) -> bool:
        """Whether it is plain without decoding that the content has no match, as in most files."""
        if self._lacks_a_literal(content):
            return True
        return self._quick is not None and is_plain(content) and not self._quick.search(content)

    def _lacks_a_literal(self, content: bytes) -> bool:
        for literal in self._exact:
            if literal not in content:
                return not content.startswith(_UTF_16)
        if self._low and content.isascii():  # beyond ASCII, other letters match, as K does for k
            low = content.lower()
            for literal in self._low:
                if literal not in low:
                    return True
        return False


def _has_case(text: str) -> bool:
    return text.lower() != text.upper()


class Folders:
    """Opens files below a folder without following links; keeps the last file's folders open."""

    def __init__(self, root: int) -> None:
        self._folder = ""
        self._names: list[str] = []
        self._open = [root]

    def read(self, path: str) -> bytes:
        """Content of a regular file; empty if it is too large to be searched."""
        folder, _, name = path.rpartition("/")
        if folder != self._folder:
            self._enter(folder)
        descriptor = os.open(name, _FILE, dir_fd=self._open[-1])
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
                return b""
            return os.read(descriptor, status.st_size)
        finally:
            os.close(descriptor)

    def _enter(self, path: str) -> None:
        names = path.split("/") if path else []
        self._folder = "\0"  # no folder, if the way there ends in an error
        shared = 0
        while shared < min(len(names), len(self._names)) and names[shared] == self._names[shared]:
            shared += 1
        while len(self._names) > shared:
            os.close(self._open.pop())
            self._names.pop()
        for folder in names[shared:]:
            self._open.append(os.open(folder, _FOLDER, dir_fd=self._open[-1]))
            self._names.append(folder)
        self._folder = path


def text_of(content: bytes) -> str | None:
    """Text of a file; None if it is binary. Broken characters become U+FFFD."""
    for mark, name in (
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
    ):
        if content.startswith(mark):
            return content[len(mark) :].decode(name, "replace").replace("\r\n", "\n")
    if b"\0" in content[:PROBE_BYTES]:
        return None
    return content.decode("utf-8", "replace").replace("\r\n", "\n")


def quick_regex(pattern: str, ignore_case: bool) -> re.Pattern[bytes] | None:
    """The pattern for the bytes of a file that is plain ASCII, if it can be written so."""
    if _ENDS_OF_TEXT.search(pattern) or not pattern.isascii():
        return None
    try:
        return re.compile(pattern.encode(), _flags(ignore_case))
    except re.error:  # such as an escape for a character that no byte stands for
        return None


def _flags(ignore_case: bool) -> int:
    return re.MULTILINE | (re.IGNORECASE if ignore_case else 0)


def is_plain(content: bytes) -> bool:
    r"""Whether a pattern finds the same in the bytes of a file as in its text.

    It has to be ASCII, with plain line ends, and without the separators that `\s` means in text
    alone.
    """
    return content.isascii() and not any(byte in content for byte in _NOT_PLAIN)


def matching_lines(text: str, regex: re.Pattern[str], context: int, most: int) -> list[Line]:
    """Matching lines and those around them, in order, each once."""
    lines = text.split("\n")
    matches = {index: found for index, line in enumerate(lines) if (found := regex.search(line))}
    if len(lines) - 1 in matches and not lines[-1]:
        del matches[len(lines) - 1]  # behind the last line end there is no line
    chosen = list(matches)[:most]
    shown: dict[int, Line] = {}
    for index in chosen:
        for near in range(max(0, index - context), min(len(lines), index + context + 1)):
            is_match = near in matches
            if near not in shown:
                at = matches[near].start() if is_match else 0
                shown[near] = (near + 1, excerpt(lines[near], at), is_match)
    return list(shown.values())


def excerpt(line: str, at: int) -> str:
    """A line, or of a long one the stretch around `at`, marked where it is cut."""
    if len(line) <= SHOWN:
        return line
    start = max(0, min(at - SHOWN_BEFORE, len(line) - SHOWN))
    stop = start + SHOWN
    return ("…" if start else "") + line[start:stop] + ("…" if stop < len(line) else "")


def search(
    task: Task, paths: list[str], root: int
) -> tuple[list[tuple[int, list[Line]]], list[int]]:
    """Files with matching lines in the order of `paths`, and binary files that match.

    Files are named by their place in `paths`: not every name can be written in JSON.
    """
    folders = Folders(root)
    hits: list[tuple[int, list[Line]]] = []
    binary: list[int] = []
    missing = task.most + 1  # one more tells that there are more
    for place, path in enumerate(paths):
        try:
            content = folders.read(path)
        except OSError:  # gone, swapped for a link, or not ours to read
            continue
        if task.is_hopeless(content):
            continue
        text = text_of(content)
        if text is None:
            if task.regex.search(content.decode("utf-8", "replace")):
                binary.append(place)
        elif task.reaches_ends or task.regex.search(text):
            lines = matching_lines(text, task.regex, task.context, missing)
            missing -= sum(is_match for _, _, is_match in lines)
            if lines:
                hits.append((place, lines))
        if missing <= 0:
            break
    return hits, binary


def main() -> None:
    """Read a task and write what was found, or why the pattern is none.

    {"hits": [[place, [[number, text, is match], …]], …], "binary": [place, …]} or {"error": "…"}
    """
    head, _, rest = sys.stdin.buffer.read().partition(b"\n")
    try:
        paths = [os.fsdecode(path) for path in rest.split(b"\0")[:-1]]
        hits, binary = search(Task(**json.loads(head)), paths, int(sys.argv[1]))
    except re.error as error:
        json.dump({"error": str(error)}, sys.stdout)
    else:
        json.dump({"hits": hits, "binary": binary}, sys.stdout)


if __name__ == "__main__":
    main()
