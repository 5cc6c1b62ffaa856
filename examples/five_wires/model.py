"""What the models of the vendors here have in their heads: it is the same in all of them."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

_CITY = re.compile(r"live in (\w+)")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A request, whichever protocol it came by.

    Attributes:
        questions: what the user said.
        results: what the tool gave back, in the order of the calls.
        calls: how many calls there are; each must have its result.
        answers_now: whether a result is the last thing in the request.
    """

    questions: Sequence[str]
    results: Sequence[str]
    calls: int
    answers_now: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model does next: it thinks, and then calls the tool or answers."""

    thought: str
    city: str = ""
    text: str = ""

    @property
    def arguments(self) -> str:
        """The arguments of the call."""
        return json.dumps({"city": self.city})


def next_turn(said: Conversation) -> Turn:
    """Look the city of the last question up, then add up all that was found out so far."""
    found = _CITY.search(said.questions[-1])
    city = found[1] if found else ""
    if not said.answers_now:
        return Turn(f"I have to look {city} up.", city=city)
    people = [int(result) for result in said.results]
    return Turn(
        f"{len(people)} found so far.",
        text=f"{city} has {people[-1]:,} people; together it is {sum(people):,}.",
    )
