"""Pages of History, backwards, in whole steps."""

from agentslot.session.errors import ClassifiedError, ErrorKind
from agentslot.session.facts import Fact, RunFact
from agentslot.session.history import History

MAX_PAGE_STEPS = 100


def history_page(
    history: History, *, before_sequence: int = 0, step_limit: int = 0
) -> tuple[tuple[Fact, ...], bool]:
    """The newest steps before a fact, oldest first, and whether anything older remains.

    A step is never split: a cursor inside a step goes back to where it begins. Facts of no step
    come along with the steps beside them; without any steps the page has `step_limit` facts.

    Args:
        history: the History of one Session.
        before_sequence: sequence of the oldest fact known already; 0 for the end of History.
        step_limit: how many steps at most, 1 to 100; 0 for 100.

    Raises:
        ClassifiedError: `invalid_input/invalid_limit`.
    """
    limit = step_limit or MAX_PAGE_STEPS
    if not 1 <= limit <= MAX_PAGE_STEPS or before_sequence < 0:
        raise ClassifiedError(
            ErrorKind.INVALID_INPUT,
            "invalid_limit",
            f"step_limit must be 1 to {MAX_PAGE_STEPS} and before_sequence no less than 0, "
            f"not {step_limit} and {before_sequence}",
        )
    stop = _page_end(history, before_sequence)
    start = _page_start(history, stop, limit)
    return tuple(history[start:stop]), start > 0


def _page_end(history: History, before_sequence: int) -> int:
    """How many facts lie before the cursor, without a step that the cursor would split."""
    stop = len(history)
    if not 1 <= before_sequence <= stop:
        return stop
    stop = before_sequence - 1
    step_id = history[stop].step_id
    begin = stop
    while step_id is not None and begin > 0 and history[begin - 1].step_id in (step_id, None):
        begin -= 1
        if history[begin].step_id == step_id:
            stop = begin
    return stop


def _page_start(history: History, stop: int, limit: int) -> int:
    """Where the page begins that ends before `stop`."""
    steps = set[str]()
    start = stop
    first_in_step: Fact | None = None
    while start > 0:
        fact = history[start - 1]
        if fact.step_id is None:
            if not steps and stop - start >= limit and first_in_step is None:
                return start
        elif fact.step_id in steps or len(steps) < limit:
            steps.add(fact.step_id)
            first_in_step = fact
        else:
            break
        start -= 1
    while start > 0 and first_in_step is not None and _of_older_run(history[start], first_in_step):
        start += 1
    return start


def _of_older_run(fact: Fact, first_in_step: Fact) -> bool:
    return isinstance(fact.payload, RunFact) and fact.run_id != first_in_step.run_id
