"""What the text of a tool result says.

The tools end a result with notes in brackets; the runtime puts a sentence of its own in front when
a call failed or nobody knows how it ended.
"""

import re

_UNSETTLED = re.compile(
    r"The outcome of this call is unknown|No result provided|Error \((canceled|outcome_unknown)\)"
)
_SHA256 = re.compile(r"\bsha256 ([0-9a-f]{64})\b")
_EXIT_CODE = re.compile(r"^\[exit code (\d+)\]$", re.MULTILINE)


def is_unsettled(result: str) -> bool:
    """Whether the call may or may not have taken effect: cut off by a crash, or cancelled."""
    return _UNSETTLED.match(result) is not None


def sha256(result: str) -> str | None:
    """The hash of the file that was read or edited, from the last line."""
    found = _SHA256.search(_last_line(result))
    return found[1] if found else None


def exit_code(result: str) -> int | None:
    """The exit code of the command."""
    found = _EXIT_CODE.search(result)
    return int(found[1]) if found else None


def file_text(result: str) -> str:
    """The text of the file that was read: all but the last line."""
    return result.removesuffix(_last_line(result))


def output(result: str) -> str:
    """What a command printed, on both its streams."""
    return _EXIT_CODE.split(result, maxsplit=1)[0]


def _last_line(result: str) -> str:
    return result.rpartition("\n")[2]
