"""Creating, loading, recovering, and finding everything again after a restart."""

from agentslot._conformance import expect
from agentslot.session.aggregate import apply, create, recover
from agentslot.session.changes import Change
from agentslot.session.conformance import story
from agentslot.session.conformance.check import Check, OpenStore, expect_refusal
from agentslot.session.facts import AttemptStatus
from agentslot.session.forking import fork
from agentslot.session.identity import SessionId
from agentslot.session.state import SessionState
from agentslot.session.store import CommitRequest, SessionStore


async def tell(store: SessionStore, state: SessionState, check: str) -> SessionState:
    """Commit the whole story, and compare each state with what the aggregate makes of it."""
    for changes in story.life():
        request = CommitRequest(state.id, state.revision, f"key-{state.revision}", changes)
        made = (await store.commit(request)).state
        expected = apply(state, changes, now=made.updated_at)
        expect(check, made == expected, f"revision {expected.revision} differs from the aggregate")
        expect(check, made.updated_at > state.updated_at, "the time of a commit did not grow")
        state = made
    return state


async def a_new_session_is_at_revision_1(open_store: OpenStore) -> None:
    """It is what was asked for, at revision 1, and its identity is taken."""
    check = "a_new_session_is_at_revision_1"
    async with open_store() as store:
        new = story.new_session()
        state = await store.create(new)
        expect(check, state == create(new, state.created_at), f"the new Session is {state}")
        expect(check, (await store.load(new.id)).state == state, "it is not there when loaded")
        await expect_refusal(check, "session_already_exists", store.create(new))


async def a_missing_session_is_not_found(open_store: OpenStore) -> None:
    """All that needs a Session says that there is none."""
    check = "a_missing_session_is_not_found"
    missing = SessionId("missing")
    async with open_store() as store:
        await expect_refusal(check, "session_not_found", store.load(missing))
        await expect_refusal(check, "session_not_found", store.recover(missing))
        request = CommitRequest(missing, 1, "key", (story.queued("q"),))
        await expect_refusal(check, "session_not_found", store.commit(request))


async def every_commit_does_what_the_aggregate_does(open_store: OpenStore) -> None:
    """All kinds of change, with texts that are awkward to store."""
    check = "every_commit_does_what_the_aggregate_does"
    async with open_store() as store:
        state = await tell(store, await store.create(story.new_session()), check)
        expect(check, (await store.load(state.id)).state == state, "it differs when loaded")


async def crash(store: SessionStore) -> SessionState:
    """A Session whose owner is gone: a pending call, a prepared one, an open attempt."""
    state = await store.create(story.new_session())
    commits: tuple[tuple[Change, ...], ...] = (
        (*story.begin(1), story.attempt("attempt-1")),
        (story.attempt("attempt-1", AttemptStatus.SUCCEEDED), *story.answer("call-1", "call-2")),
        (story.pending("call-1"), story.attempt("attempt-2")),
    )
    for changes in commits:
        request = CommitRequest(state.id, state.revision, f"key-{state.revision}", changes)
        state = (await store.commit(request)).state
    return state


async def settle(store: SessionStore, state: SessionState, check: str) -> SessionState:
    """Recover, and compare with what the aggregate asks for."""
    settled = (await store.recover(state.id)).state
    expected = apply(state, recover(state), now=settled.updated_at)
    expect(check, settled == expected, "recovery is not what the aggregate asks for")
    return settled


async def recovery_settles_once_and_loading_never(open_store: OpenStore) -> None:
    """Load shows what a crash left, recover settles it in one revision, then nothing is left."""
    check = "recovery_settles_once_and_loading_never"
    async with open_store() as store:
        state = await crash(store)
        expect(check, (await store.load(state.id)).state == state, "loading changed the Session")
        settled = await settle(store, state, check)
        again = (await store.recover(state.id)).state
        expect(check, again == settled, "a second recovery changed something")


async def an_unfinished_run_survives_a_restart(open_store: OpenStore) -> None:
    """What was prepared, pending and open is found so, and settled by whoever comes next."""
    check = "an_unfinished_run_survives_a_restart"
    async with open_store() as store:
        state = await crash(store)
    async with open_store() as store:
        expect(check, (await store.load(state.id)).state == state, "the Session differs")
        settled = await settle(store, state, check)
    async with open_store() as store:
        expect(check, (await store.load(state.id)).state == settled, "the settled one differs")


async def a_fork_keeps_time_actor_and_origin(open_store: OpenStore) -> None:
    """A Session created with copied facts has them all, numbered anew."""
    check = "a_fork_keeps_time_actor_and_origin"
    async with open_store() as store:
        source = await tell(store, await store.create(story.new_session()), check)
        new = fork(source, SessionId("child"))
        child = await store.create(new)
        expect(check, child == create(new, child.created_at), "the child is not what was forked")
        expect(check, (await store.load(child.id)).state == child, "it differs when loaded")
        origins = [fact.origin_id for fact in child.history]
        expect(check, origins == [fact.id for fact in source.history], "an origin is wrong")


async def a_restart_loses_nothing(open_store: OpenStore) -> None:
    """After a restart the Sessions are equal, and a commit sent again is known."""
    check = "a_restart_loses_nothing"
    async with open_store() as store:
        state = await tell(store, await store.create(story.new_session()), check)
        child = await store.create(fork(state, SessionId("child")))
    *_, last = story.life()
    request = CommitRequest(state.id, state.revision - 1, f"key-{state.revision - 1}", last)
    async with open_store() as store:
        expect(check, (await store.load(state.id)).state == state, "the Session differs")
        expect(check, (await store.load(child.id)).state == child, "the fork differs")
        again = await store.commit(request)
        expect(check, not again.applied, "a commit from before the restart was applied again")
        expect(check, again.revision == state.revision, f"it made revision {again.revision}")
        expect(check, again.state == state, "it changed the Session")
        page = await store.list_sessions(state.agent, state.workspace)
        ids = [session.id for session in page.sessions]
        expect(check, ids == [child.id, state.id], f"the listing names {ids}")


CHECKS: tuple[Check, ...] = (
    a_new_session_is_at_revision_1,
    a_missing_session_is_not_found,
    every_commit_does_what_the_aggregate_does,
    recovery_settles_once_and_loading_never,
    a_fork_keeps_time_actor_and_origin,
)
DURABILITY_CHECKS: tuple[Check, ...] = (
    a_restart_loses_nothing,
    an_unfinished_run_survives_a_restart,
)
