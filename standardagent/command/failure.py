"""How the command fails: what it raises itself, and how errors are shown."""

import errno
import json
import re
from collections.abc import Iterator, Sequence
from typing import cast

from agentslot import AgentSlotError

_PASSWORD = re.compile(r"(\w:/+[^\s:@/]*):\S*@")  # a path has lost a slash

_Plain = str | int | float | bool | list["_Plain"] | None


class CommandError(AgentSlotError):
    """The command cannot do what it was asked to. Exit code 1."""


class UsageError(CommandError):
    """The command was asked in a way that can never work. Exit code 2."""


def exit_code(error: BaseException) -> int:
    """Exit code of an error that ends the command."""
    return 2 if isinstance(error, UsageError) else 1


def readable(error: BaseException) -> str:
    """Show an error, or each member of a group, for a person."""
    problems = list(_problems(error))
    if len(problems) == 1:
        return f"agentslot: {_message(problems[0])}"
    numbered = (
        f"{number}. {_named(problem)}".replace("\n", "\n   ")
        for number, problem in enumerate(problems, start=1)
    )
    return "\n".join([f"agentslot: {len(problems)} problems", *numbered])


def is_full(error: OSError) -> bool:
    """Whether it is the end of the room for what is written; the output has no file name."""
    full = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
    return error.errno in full and error.filename is None


def without_passwords(text: str) -> str:
    """What is said to a person, with no password that stands in an address."""
    return _PASSWORD.sub(r"\1:***@", text)


def as_json(error: BaseException) -> str:
    """Show an error for a program: type, message and the plain data that each problem carries."""
    problems = [
        {"type": type(problem).__name__, "message": _message(problem), **_data(problem)}
        for problem in _problems(error)
    ]
    return json.dumps({"errors": problems}, ensure_ascii=False, indent=2)


def _problems(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for member in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _problems(member)
    else:
        yield error


def _message(error: BaseException) -> str:
    notes = getattr(error, "__notes__", [])
    return "\n".join([str(error) or type(error).__name__, *notes])


def _named(error: BaseException) -> str:
    """As `_message`; an error of somebody else is told by its type, too."""
    told = _message(error)
    if isinstance(error, AgentSlotError) or not str(error):  # without a text the type is all
        return told
    return f"{type(error).__name__}: {told}"


def _data(error: BaseException) -> dict[str, _Plain]:
    """The public attributes of our own errors, as far as JSON can say them; nothing empty."""
    if not isinstance(error, AgentSlotError):
        return {}
    public = {name: _plain(value) for name, value in vars(error).items() if name[0] != "_"}
    return {name: value for name, value in public.items() if value not in (None, [], "")}


def _plain(value: object) -> _Plain:
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[object]", value)]
    return None
