"""What the conversation says about the project so far."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from examples.loopback_model import actions, results
from examples.loopback_model.conversation import Exchange

_IMPORT = re.compile(r"^(?:from|import) ([\w.]+)", re.MULTILINE)


@dataclass(slots=True)
class Knowledge:
    """All that the model has learnt, in the state after the last result."""

    listing: tuple[str, ...] = ()
    """The project's files; empty before they were listed."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    """What each file holds, as far as it was read and nothing has touched it since."""

    hashes: dict[str, str] = field(default_factory=dict[str, str])
    """The hash of each of these texts."""

    doubtful: set[str] = field(default_factory=set[str])
    """Files to look at again, since nobody knows what they hold now."""

    test_output: str | None = None
    """What the tests printed on the present files; None if they were not run on them."""

    failures: str = ""
    """What the last failing run printed."""

    edited: set[str] = field(default_factory=set[str])
    """Files with at least one edit that was made or may have been made."""

    @property
    def is_green(self) -> bool:
        """Whether the tests passed on the present files."""
        return self.test_output is not None and self.test_output.rstrip().endswith("OK")

    def imported_by(self, path: str) -> list[str]:
        """The project's files that a file which was read imports."""
        modules = _IMPORT.findall(self.texts.get(path, ""))
        paths = [f"{module.replace('.', '/')}.py" for module in modules]
        return [candidate for candidate in paths if candidate in self.listing]


def learn(exchanges: Sequence[Exchange]) -> Knowledge:
    """Read the results in order; each tells something new or puts something in doubt."""
    known = Knowledge()
    for exchange in exchanges:
        if results.is_unsettled(exchange.result):
            _doubt(known, exchange)
        else:
            _take(known, exchange)
    return known


def _doubt(known: Knowledge, exchange: Exchange) -> None:
    known.test_output = None
    if exchange.call.name == "file_edit":
        known.edited.add(str(exchange.call.arguments["path"]))
    # Whatever ran may have been cut off anywhere: what was changed so far is looked at again.
    known.doubtful |= known.edited


def _take(known: Knowledge, exchange: Exchange) -> None:
    path = str(exchange.call.arguments.get("path"))
    if exchange.call.name == "file_read":
        known.texts[path] = results.file_text(exchange.result)
        known.hashes[path] = str(results.sha256(exchange.result))
        known.doubtful.discard(path)
    elif exchange.call.name == "file_edit":
        known.edited.add(path)
        known.texts.pop(path, None)
        known.test_output = None
    elif exchange.call.arguments.get("command") == actions.LIST_FILES:
        lines = results.output(exchange.result).splitlines()
        known.listing = tuple(line.removeprefix("./") for line in lines if line)
    else:
        known.test_output = results.output(exchange.result)
        if not known.is_green:
            known.failures = known.test_output
