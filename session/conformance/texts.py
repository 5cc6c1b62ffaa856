"""What no store could keep is refused by all of them alike: half a surrogate pair, broken JSON."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from agentslot._conformance import expect
from agentslot.session.changes import AppendAttempt, AppendMessage, Change, EditQueued
from agentslot.session.conformance import story
from agentslot.session.conformance.check import Check, OpenStore, expect_refusal
from agentslot.session.errors import ClassifiedError
from agentslot.session.facts import AttemptStatus, Fact
from agentslot.session.forking import fork
from agentslot.session.identity import Actor, ActorKind, SessionId
from agentslot.session.message import Continuation, TextPart
from agentslot.session.store import CommitRequest, NewSession, SessionStore

_HALF = "half \ud800"

_CLASS = ("kind",)
_PLACE = ("session_id", "run_id", "step_id")
"""Not what somebody says: the name of a class, and the place of a copied fact, which is new."""

NO_JSON = {
    "": "$",
    '{"a":': "$.a",
    '{"a":{"b":1,"b":2}}': "$.a.b",
    "[1,NaN]": "$[1]",
    '{"n":1e999}': "$.n",
    r'["\ud800"]': "$[0]",
    "[" * 65 + "]" * 65: "$" + "[0]" * 64,
    "{} {}": "$",
}
"""Texts that are no JSON value, and where they stop to be one."""


async def a_text_that_no_store_can_keep_is_refused(open_store: OpenStore) -> None:
    """Half a surrogate pair is refused where it comes in, with the path to it."""
    check = "a_text_that_no_store_can_keep_is_refused"
    async with open_store() as store:
        state = await store.create(story.new_session())
        queued = story.queued("q-1")
        edited = EditQueued(queued.item.message.id, (TextPart(_HALF),))
        commit = store.commit(CommitRequest(state.id, 1, "key", (queued, edited)))
        error = await expect_refusal(check, "text_not_unicode", commit)
        expect(check, "parts[0].text" in error.message, f"it does not say where: {error.message}")
        for broken in (
            CommitRequest(state.id, 1, _HALF, (queued,)),
            CommitRequest(state.id, 1, "key", (queued,), Actor(ActorKind.SERVICE, _HALF)),
        ):
            await expect_refusal(check, "text_not_unicode", store.commit(broken))
        expect(check, (await store.load(state.id)).state == state, "the Session has changed")


async def no_text_of_any_change_escapes(open_store: OpenStore) -> None:
    """Whichever text of a life it is that has half a surrogate pair, its commit is refused."""
    check = "no_text_of_any_change_escapes"
    async with open_store() as store:
        state = await store.create(story.new_session())
        for number, changes in enumerate(story.life()):
            request = CommitRequest(state.id, state.revision, f"key-{number}", changes)
            for tried in (changes, _with_a_failure(changes)):
                for path, broken in _spoiled(tried, "$.changes"):
                    commit = store.commit(replace(request, changes=broken))
                    expect(check, await _refuses(commit), f"half a surrogate pair at {path}")
            state = (await store.commit(request)).state
        await _check_copies(check, store, fork(state, SessionId("child")))


async def _check_copies(check: str, store: SessionStore, copies: NewSession) -> None:
    for path, broken in _spoiled(copies, "$"):
        refused = await _refuses(store.create(broken))
        expect(check, refused, f"a Session is created with half a surrogate pair at {path}")


def _with_a_failure(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """The same, but a request that has succeeded has failed: that says more."""
    return tuple(
        replace(
            change,
            attempt=replace(
                change.attempt,
                status=AttemptStatus.FAILED,
                error_code="overloaded",
                error_message="try later",
                partial_text="Hel",
            ),
        )
        if isinstance(change, AppendAttempt) and change.attempt.status is AttemptStatus.SUCCEEDED
        else change
        for change in changes
    )


async def _refuses(attempt: Any) -> bool:  # whatever a store does
    """Whether it is refused; a broken name may not be known, which is a refusal, too."""
    try:
        await attempt
    except ClassifiedError:
        return True
    return False


def _spoiled(value: object, path: str) -> Iterator[tuple[str, Any]]:  # any part of a change
    """The value with half a surrogate pair in each of its texts in turn, and where that is."""
    if type(value) is str:  # an enumeration has no other texts
        yield path, f"{value}\ud800"
    elif isinstance(value, tuple):
        for number, item in enumerate(cast("Iterable[object]", value)):
            for where, broken in _spoiled(item, f"{path}[{number}]"):
                yield where, (*value[:number], broken, *value[number + 1 :])
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            if field.name not in (_PLACE if isinstance(value, Fact) else _CLASS):
                for where, broken in _spoiled(getattr(value, field.name), f"{path}.{field.name}"):
                    with suppress(ValueError):  # some can not even be made
                        yield where, replace(value, **{field.name: broken})


async def a_continuation_is_a_json_value(open_store: OpenStore) -> None:
    """What a model wants back is one JSON value by the strict rules; it is told where not."""
    check = "a_continuation_is_a_json_value"
    async with open_store() as store:
        state = await store.create(story.new_session())
        state = (await store.commit(CommitRequest(state.id, 1, "begin", story.begin(1)))).state
        answer, call = story.answer("call-1")
        assert isinstance(answer, AppendMessage)
        for text, where in NO_JSON.items():
            continuation = Continuation("openai", "gpt-5", text)
            broken = AppendMessage(replace(answer.message, continuation=continuation))
            commit = store.commit(CommitRequest(state.id, 2, "answer", (broken, call)))
            error = await expect_refusal(check, "invalid_continuation", commit)
            told = "continuation.state" in error.message and f" at {where} (" in error.message
            expect(check, told, f"it does not say where: {error.message}")
        good = await store.commit(CommitRequest(state.id, 2, "answer", (answer, call)))
        expect(check, good.applied, "a key whose commit was refused is taken")


CHECKS: tuple[Check, ...] = (
    a_text_that_no_store_can_keep_is_refused,
    no_text_of_any_change_escapes,
    a_continuation_is_a_json_value,
)
