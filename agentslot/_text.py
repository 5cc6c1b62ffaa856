"""The one rule for ids, keys and names, what comes close to one, and numbers of things."""

from collections.abc import Iterable
from typing import TypeGuard, TypeVar

Texts = TypeVar("Texts", bound=Iterable[object])


def is_name(text: object) -> TypeGuard[str]:
    """Tell whether this is a non-empty string without white space around it (`str.strip`)."""
    return isinstance(text, str) and text != "" and text == text.strip()


def near(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return up to three of the names that come close to this one, the closest first."""
    # Only an error needs it, and it is a sixth of what importing this package takes.
    from difflib import get_close_matches

    return tuple(get_close_matches(name, list(names), n=3, cutoff=0.6))


def did_you_mean(names: Iterable[str]) -> str:
    """Return `; did you mean 'a' or 'b'?`, or nothing if there is no name."""
    quoted = " or ".join(repr(name) for name in names)
    return f"; did you mean {quoted}?" if quoted else ""


def counted(number: int, thing: str) -> str:
    """Return how many there are of a thing whose plural takes an s."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def several(name: str, texts: Texts) -> Texts:
    """Return the texts, unless they are a single one, whose letters would pass for several.

    Type checkers take a `str` for a collection of them.

    Raises:
        TypeError: They are.
    """
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"{name} are several; for one, write [{texts!r}] instead of {texts!r}")
    return texts
