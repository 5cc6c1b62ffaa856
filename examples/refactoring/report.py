"""What came of it: what a renaming has to be, held against the copy."""

import re
from collections.abc import Iterator

from examples.demo.model import Model
from examples.demo.record import read_records
from examples.demo.report import Finding, cost
from examples.refactoring.stage import Stage


def findings(stage: Stage, old: str, new: str, model: Model) -> Iterator[Finding]:
    """All that there is to say at the end, promises first."""
    word = re.compile(rf"\b{old}\b")
    changed = list(stage.changed())
    places = sum(len(word.findall(before)) for _, before, _ in changed)
    yield Finding("renamed", f"{places} places in {len(changed)} files", holds=bool(changed))
    strayed = [str(path) for path, before, now in changed if word.sub(new, before) != now]
    text = f"beside the name in {', '.join(strayed)}" if strayed else "beside the name: nothing"
    yield Finding("changed", text, holds=not strayed)
    passed, printed = stage.run_tests(new)
    yield Finding("tests", printed, holds=passed)
    yield Finding("the changes", stage.differences().rstrip() or "none")
    for record in read_records(stage.sessions, stage.project):
        usage = record.usage
        yield Finding(
            "tokens", f"{usage.input:,} in, {usage.output:,} out, in {record.requests} requests"
        )
        yield Finding("cost", cost(record, model.price))
