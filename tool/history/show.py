"""Showing a page of a past, one long entry, or what a search has found."""

from collections.abc import Sequence
from dataclasses import dataclass

from agentslot.tool.fit import cut
from agentslot.tool.history.cursor import Cursor
from agentslot.tool.history.entries import Entry, Step

MOST_OF_ENTRY = 2000
_AROUND = 120


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry in which all words of a query stand.

    Attributes:
        place: character of the first word.
        behind: sequence of the first fact behind its step.
    """

    entry: Entry
    place: int
    behind: int


def show_steps(steps: Sequence[Step], max_bytes: int, *, has_older: bool) -> str:
    """The newest steps that fit, oldest first, and how to read on.

    Args:
        steps: whole steps, oldest first.
        max_bytes: about how many bytes of them to show; a step is left out whole, but the newest
            is shown, with shorter texts.
        has_older: whether there are older ones than these.
    """
    shown: list[str] = []
    oldest, room = 0, max_bytes
    for first, entries in reversed(steps):
        most = MOST_OF_ENTRY if shown else min(MOST_OF_ENTRY, max_bytes // (4 * len(entries)))
        text = "\n".join(_shown(entry, most) for entry in entries)
        room -= len(text.encode("utf-8", "replace"))
        if shown and room < 0:
            break
        shown.append(text)
        oldest = first
    if not shown:
        return "[nothing lies before this]"
    more = has_older or len(shown) < len(steps)
    note = f"older steps: cursor={Cursor(oldest)}" if more else "this is the beginning"
    steps_shown = "1 step" if len(shown) == 1 else f"{len(shown)} steps"
    return "\n\n".join([*reversed(shown), f"[{steps_shown}, oldest first; {note}]"])


def show_entry(entry: Entry, character: int, max_bytes: int) -> str:
    """A long entry from a character on."""
    part = cut(entry.text[character:], max_bytes)
    end = character + len(part)
    note = f"characters {character} to {end} of {len(entry.text)}"
    if end < len(entry.text):
        note += f"; read on with cursor={Cursor(entry.sequence, end)}"
    return f"{entry.head}:\n{part}\n[{note}]"


def show_hits(hits: Sequence[Hit], searched_to: int, max_bytes: int) -> str:
    """What was found, newest first.

    Args:
        hits: newest first.
        searched_to: sequence of the oldest fact that was looked at, 1 for all.
        max_bytes: about how many bytes to show.
    """
    shown: list[str] = []
    room, last = max_bytes, searched_to
    for hit in hits:
        text = f"{hit.entry.head}: {_snippet(hit)}\n[around it: cursor={Cursor(hit.behind)}]"
        room -= len(text.encode("utf-8", "replace"))
        if shown and room < 0:
            break
        shown.append(text)
        last = hit.entry.sequence
    if len(shown) < len(hits):
        searched_to = last
    found = "nothing found" if not shown else f"{len(shown)} found, newest first"
    if searched_to <= 1:
        return "\n\n".join([*shown, f"[{found}; all was searched]"])
    more = f"to search what is older, repeat the query with cursor={Cursor(searched_to)}"
    return "\n\n".join([*shown, f"[{found}; {more}]"])


def _shown(entry: Entry, most: int) -> str:
    text = entry.text
    if len(text) > most:
        more = f"{len(text)} characters in all, read on with cursor={Cursor(entry.sequence, most)}"
        text = f"{text[:most]}… [{more}]"
    return f"{entry.head}: {text}" if text else entry.head


def _snippet(hit: Hit) -> str:
    text = hit.entry.text
    start, end = max(0, hit.place - _AROUND), hit.place + _AROUND
    return f"{'…' * (start > 0)}{' '.join(text[start:end].split())}{'…' * (end < len(text))}"
