"""What the changes of a Session come to, told in plain data and without checking any rule.

This is the aggregate's effect on all but History, for changes that have passed it before.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache
from typing import Any

from pydantic_core import to_json

from agentslot.session.changes import UpdateExtensionJournal
from agentslot.session.codec import Decoder
from agentslot.session.extensionjournal import ExtensionJournal
from agentslot.session.filepages import Page, Place
from agentslot.session.history import Subject, run_boundary, started_attempt
from agentslot.session.identity import ToolCallId
from agentslot.session.modelconfig import ModelConfig
from agentslot.session.positions import CompactPositions
from agentslot.session.rules.extensions import transition
from agentslot.session.state import ActiveRun

Plain = dict[str, Any]  # JSON as it was parsed


class Fold:
    """A Session so far; queue and context are in the shape that their JSON has.

    Attributes:
        lenient: whether members that this version does not know are passed over.
        at: time of the newest commit.
        index: where the facts are.
        facts: how many there are.
        contexts: how many contexts there were.
        retained_from: the first of them that is still kept.
        calls: run and step of the calls that have no result yet, in their order.
        pending: those of them that may have begun.
    """

    def __init__(self, model_config: ModelConfig, *, lenient: bool) -> None:
        self.model_config = model_config
        self.lenient = lenient
        self.at = ""
        self.extensions = ExtensionJournal()
        self.index = CompactPositions()
        self.facts = 0
        self.contexts = 0
        self.retained_from = 0
        self.context: Plain | None = None
        self.texts: dict[str, str] = {}
        self.queue: dict[str, Plain] = {}
        self.calls: dict[ToolCallId, Place] = {}
        self.pending: set[str] = set()
        self.run: ActiveRun | None = None

    def page(self, line: int, offset: int) -> Page:
        """What has to be known to read the lines from here on."""
        return Page(line, offset, self.facts, self.contexts, self.model_config, self.calls.copy())

    def append(self, subject: Subject | None) -> None:
        """One more fact, and what it is about."""
        if subject is not None:
            self.index.add(subject, self.facts)
        self.facts += 1

    def commit(self, changes: Iterable[Plain], at: str) -> None:
        """Take in the changes of one commit.

        Raises:
            LookupError, TypeError, ValueError, ClassifiedError: they do not fit what was before.
        """
        self.at = at
        for change in changes:
            _EFFECTS[change["kind"]](self, change)

    def active(self) -> ActiveRun:
        """The Run in progress."""
        if self.run is None:
            raise LookupError("no run is active")
        return self.run


def _append_message(fold: Fold, change: Plain) -> None:
    fold.append(("message", change["message"]["id"]))


def _append_tool_call(fold: Fold, change: Plain) -> None:
    call = change["call"]
    fold.append(("call", call["id"]))
    fold.calls[call["id"]] = call["run_id"], call["step_id"]
    fold.run = fold.active().with_call()


def _mark_tool_pending(fold: Fold, change: Plain) -> None:
    fold.pending.add(change["call_id"])


def _append_tool_result(fold: Fold, change: Plain) -> None:
    call_id = change["result"]["call_id"]
    fold.append(("result", call_id))
    fold.pending.discard(call_id)
    del fold.calls[call_id]


def _append_run(fold: Fold, change: Plain) -> None:
    fact = change["fact"]
    subject = run_boundary(fact["run_id"], fact["status"])
    fold.append(subject)
    fold.run = None
    if subject[0] == "run_start":
        fold.run = ActiveRun(fact["run_id"], fold.model_config, fact["config_revision"])


def _append_attempt(fold: Fold, change: Plain) -> None:
    attempt, run = change["attempt"], fold.active()
    attempt_id = attempt["attempt_id"]
    start = started_attempt(attempt_id, attempt["status"])
    fold.append(start)
    if start is not None:
        fold.run = run.with_attempt(attempt_id)
    else:
        usage = attempt.get("usage")
        fold.run = run.without_attempt(attempt_id, usage.get("total", 0) if usage else 0)


def _append_context_contribution(fold: Fold, change: Plain) -> None:
    added = change["contribution"]
    subject = "contribution", added["run_id"], added["step_id"], added["source_key"]
    fold.append(subject)


def _append_budget_exceeded(fold: Fold, _: Plain) -> None:
    fold.append(None)
    fold.run = fold.active().over_budget()


def _append_limit_exceeded(fold: Fold, _: Plain) -> None:
    fold.append(None)


def _enqueue(fold: Fold, change: Plain) -> None:
    fold.queue[change["item"]["message"]["id"]] = change["item"]


def _leave_queue(fold: Fold, change: Plain) -> None:
    del fold.queue[change["message_id"]]


def _edit_queued(fold: Fold, change: Plain) -> None:
    fold.queue[change["message_id"]]["message"]["parts"] = change["parts"]


def _reclassify_queued(fold: Fold, change: Plain) -> None:
    fold.queue[change["message_id"]]["delivery"] = change["delivery"]


def _set_context(fold: Fold, change: Plain) -> None:
    fold.context = change["context"]
    fold.texts.update(change.get("texts", ()))
    if not change.get("retain_previous"):
        fold.retained_from = fold.contexts
    fold.contexts += 1


def _set_model_config(fold: Fold, change: Plain) -> None:
    fold.append(None)
    config = to_json(change["config"])
    fold.model_config = _read_model_config()(config, lenient=fold.lenient)


def _update_extension_journal(fold: Fold, change: Plain) -> None:
    """Take one step of a hook by the rules: of the journal all is kept in memory anyway."""
    typed = _read_step()(to_json(change), lenient=fold.lenient)
    known, now = fold.extensions.get(typed.sequence), datetime.fromisoformat(fold.at)
    entry = transition(known, typed.step, typed.sequence, now)
    fold.extensions = fold.extensions.updated({typed.sequence: entry})


# Made at first use: a decoder takes milliseconds to build.
_read_model_config = cache(lambda: Decoder(ModelConfig))
_read_step = cache(lambda: Decoder(UpdateExtensionJournal))

_EFFECTS: dict[str, Callable[[Fold, Plain], None]] = {
    "append_message": _append_message,
    "append_tool_call": _append_tool_call,
    "mark_tool_pending": _mark_tool_pending,
    "append_tool_result": _append_tool_result,
    "append_run": _append_run,
    "append_attempt": _append_attempt,
    "append_context_contribution": _append_context_contribution,
    "append_budget_exceeded": _append_budget_exceeded,
    "append_limit_exceeded": _append_limit_exceeded,
    "enqueue": _enqueue,
    "consume_queued": _leave_queue,
    "edit_queued": _edit_queued,
    "delete_queued": _leave_queue,
    "reclassify_queued": _reclassify_queued,
    "set_context": _set_context,
    "set_model_config": _set_model_config,
    "update_extension_journal": _update_extension_journal,
}
