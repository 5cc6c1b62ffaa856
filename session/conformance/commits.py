"""Compare-and-swap, idempotency, and all or nothing."""

from dataclasses import replace

import anyio

from agentslot._conformance import ConformanceFailure, expect
from agentslot.session.conformance import story
from agentslot.session.conformance.check import Check, OpenStore, expect_refusal
from agentslot.session.errors import RevisionConflictError
from agentslot.session.state import SessionState
from agentslot.session.store import Commit, CommitRequest, SessionStore


def _enqueue(state: SessionState, key: str, message_id: str) -> CommitRequest:
    return CommitRequest(state.id, state.revision, key, (story.queued(message_id),))


async def a_stale_commit_is_a_conflict(open_store: OpenStore) -> None:
    """Whoever decided on an older revision is told the current one; nothing is written."""
    check = "a_stale_commit_is_a_conflict"
    async with open_store() as store:
        first = await store.create(story.new_session())
        state = (await store.commit(_enqueue(first, "one", "q-1"))).state
        for stale in (_enqueue(first, "two", "q-2"), _ahead(_enqueue(first, "three", "q-3"))):
            error = await expect_refusal(check, "revision_conflict", store.commit(stale))
            if not isinstance(error, RevisionConflictError):
                raise ConformanceFailure(check, f"the conflict is a {type(error).__name__}")
            expect(check, error.current_revision == 2, f"it names {error.current_revision}, not 2")
        expect(check, (await store.load(state.id)).state == state, "the Session has changed")


def _ahead(request: CommitRequest) -> CommitRequest:
    return replace(request, expected_revision=99)


async def a_commit_is_all_or_nothing(open_store: OpenStore) -> None:
    """If the last change is refused, the ones before it have not happened either."""
    check = "a_commit_is_all_or_nothing"
    async with open_store() as store:
        state = await store.create(story.new_session())
        changes = (*story.begin(1), story.pending("missing"))
        request = CommitRequest(state.id, 1, "key", changes)
        await expect_refusal(check, "journal_invariant", store.commit(request))
        expect(check, (await store.load(state.id)).state == state, "the Session has changed")
        good = await store.commit(replace(request, changes=story.begin(1)))
        expect(check, good.applied, "a key whose commit was refused is taken")
        expect(check, len(good.state.history) == 2, "the refused facts are still there")


async def a_commit_without_key_or_changes_is_refused(open_store: OpenStore) -> None:
    """Both are what a commit is."""
    check = "a_commit_without_key_or_changes_is_refused"
    async with open_store() as store:
        request = _enqueue(await store.create(story.new_session()), "key", "q-1")
        for bad in (replace(request, idempotency_key=""), replace(request, changes=())):
            await expect_refusal(check, "invalid_request", store.commit(bad))


async def the_same_commit_is_applied_once(open_store: OpenStore) -> None:
    """Sent again it gets its first outcome, however far the Session has gone on."""
    check = "the_same_commit_is_applied_once"
    async with open_store() as store:
        state = await store.create(story.new_session())
        request = CommitRequest(state.id, 1, "start", story.begin(1))
        first = await store.commit(request)
        expect(check, _outcome(first) == (2, 1, 2, True), f"the outcome is {_outcome(first)}")
        later = (await store.commit(_enqueue(first.state, "more", "q-1"))).state
        again = await store.commit(replace(request, changes=story.begin(1)))
        expect(check, _outcome(again) == (2, 1, 2, False), f"then it is {_outcome(again)}")
        expect(check, again.state == later, "the answer is not the Session as it is now")
        expect(check, (await store.load(state.id)).state == later, "the Session has changed")


def _outcome(commit: Commit) -> tuple[int, int, int, bool]:
    return commit.revision, commit.first_sequence, commit.last_sequence, commit.applied


async def a_key_stands_for_one_commit(open_store: OpenStore) -> None:
    """The same key with another request is a conflict."""
    check = "a_key_stands_for_one_commit"
    async with open_store() as store:
        first = await store.create(story.new_session())
        state = (await store.commit(_enqueue(first, "key", "q-1"))).state
        other = _enqueue(first, "key", "q-2")
        await expect_refusal(check, "revision_conflict", store.commit(other))
        elsewhere = replace(_enqueue(first, "key", "q-1"), expected_revision=2)
        await expect_refusal(check, "revision_conflict", store.commit(elsewhere))
        expect(check, (await store.load(state.id)).state == state, "the Session has changed")


async def of_two_commits_at_once_one_wins(open_store: OpenStore) -> None:
    """Both were decided on the same revision: one is applied, the other a conflict."""
    check = "of_two_commits_at_once_one_wins"
    async with open_store() as store:
        state = await store.create(story.new_session())
        won = list[str]()

        async def race(key: str) -> None:
            try:
                await store.commit(_enqueue(state, key, key))
            except RevisionConflictError:
                return
            won.append(key)

        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(race, f"key-{number}")
        expect(check, len(won) == 1, f"{len(won)} of 8 commits at one revision were applied")
        queue = (await store.load(state.id)).state.queue
        expect(check, [item.message.id for item in queue] == won, f"the queue is {queue}")


async def a_cancelled_caller_leaves_no_half_commit(open_store: OpenStore) -> None:
    """Cancelled before it begins, a call does nothing and says so by being cancelled."""
    check = "a_cancelled_caller_leaves_no_half_commit"
    async with open_store() as store:
        state = await store.create(story.new_session())
        await _cancelled(store, _enqueue(state, "key", "q-1"), check)
        expect(check, (await store.load(state.id)).state == state, "the Session has changed")


async def _cancelled(store: SessionStore, request: CommitRequest, check: str) -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        await store.commit(request)
    expect(check, scope.cancelled_caught, "a call in a cancelled scope was made all the same")


CHECKS: tuple[Check, ...] = (
    a_stale_commit_is_a_conflict,
    a_commit_is_all_or_nothing,
    a_commit_without_key_or_changes_is_refused,
    the_same_commit_is_applied_once,
    a_key_stands_for_one_commit,
    of_two_commits_at_once_one_wins,
    a_cancelled_caller_leaves_no_half_commit,
)
