"""What the conversation says about the work so far."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from examples.loopback_model import results
from examples.loopback_model.conversation import Exchange
from examples.refactoring.model.answers import found_paths, listed_paths


@dataclass(slots=True)
class Knowledge:
    """All that the model has learnt, in the state after the last result."""

    found: list[str] | None = None
    """Files with the name; None if they were not searched since the last edit."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    """What each file holds that was read and not edited since."""

    hashes: dict[str, str] = field(default_factory=dict[str, str])
    """The hash of each of these texts."""

    edited: list[str] = field(default_factory=list[str])
    """Files that have the new name."""

    tests: list[str] | None = None
    """Tests that are named after what was edited; None if nobody looked for them."""

    test_output: str | None = None
    """What the tests printed since the last edit."""

    green: bool = False
    """Whether they passed."""


def learn(exchanges: Sequence[Exchange]) -> Knowledge:
    """Read the results in order."""
    known = Knowledge()
    for exchange in exchanges:
        _take(known, exchange)
    return known


def _take(known: Knowledge, exchange: Exchange) -> None:
    path, result = str(exchange.call.arguments.get("path")), exchange.result
    match exchange.call.name:
        case "file_search":
            known.found = found_paths(result)
        case "file_read":
            known.texts[path] = results.file_text(result)
            known.hashes[path] = str(results.sha256(result))
        case "file_edit":
            known.edited.append(path)
            del known.texts[path]
            known.found = known.test_output = None
        case "file_find":
            known.tests = listed_paths(result)
        case _:
            known.test_output = results.output(result)
            known.green = results.exit_code(result) == 0
