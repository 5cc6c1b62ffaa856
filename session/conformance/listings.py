"""Listing: scope, order, pages and cursors."""

from agentslot._conformance import expect
from agentslot.session.conformance import story
from agentslot.session.conformance.check import Check, OpenStore, expect_refusal
from agentslot.session.forking import fork
from agentslot.session.identity import AgentId, SessionId, WorkspaceId
from agentslot.session.store import CommitRequest, SessionStore

_AGENT = AgentId("agent")
_WORKSPACE = WorkspaceId("workspace")


async def _create(store: SessionStore, *session_ids: str) -> None:
    for session_id in session_ids:
        await store.create(story.new_session(session_id))


async def _all_pages(store: SessionStore, limit: int) -> list[SessionId]:
    found: list[SessionId] = []
    cursor = ""
    while True:
        page = await store.list_sessions(_AGENT, _WORKSPACE, limit=limit, cursor=cursor)
        found += [session.id for session in page.sessions]
        cursor = page.next_cursor
        if not cursor:
            return found


async def the_newest_change_comes_first(open_store: OpenStore) -> None:
    """A Session moves up when it changes, and the row tells revision and time."""
    check = "the_newest_change_comes_first"
    async with open_store() as store:
        await _create(store, "a", "b", "c")
        request = CommitRequest(SessionId("b"), 1, "key", (story.queued("q"),))
        changed = (await store.commit(request)).state
        page = await store.list_sessions(_AGENT, _WORKSPACE)
        ids = [session.id for session in page.sessions]
        expect(check, ids == ["b", "c", "a"], f"the order is {ids}")
        row = page.sessions[0]
        expect(check, row.revision == 2, f"the row says revision {row.revision}")
        expect(check, row.updated_at == changed.updated_at, "the row says another time")
        expect(check, page.next_cursor == "", "a last page has a cursor")


async def a_row_names_the_parent(open_store: OpenStore) -> None:
    """Forks can be drawn as a tree from their rows alone."""
    check = "a_row_names_the_parent"
    async with open_store() as store:
        source = await store.create(story.new_session("a"))
        await store.create(fork(source, SessionId("b")))
        page = await store.list_sessions(_AGENT, _WORKSPACE)
        parents = {row.id: row.parent for row in page.sessions}
        expect(check, parents == {"a": None, "b": "a"}, f"the parents are {parents}")


async def a_listing_keeps_to_its_scope(open_store: OpenStore) -> None:
    """Other agents and workspaces are not seen."""
    check = "a_listing_keeps_to_its_scope"
    async with open_store() as store:
        await _create(store, "a")
        await store.create(story.new_session("b", workspace="elsewhere"))
        page = await store.list_sessions(_AGENT, WorkspaceId("elsewhere"))
        expect(check, [row.id for row in page.sessions] == ["b"], f"it names {page.sessions}")
        nothing = await store.list_sessions(AgentId("nobody"), _WORKSPACE)
        expect(check, not nothing.sessions, f"it names {nothing.sessions}")


async def pages_give_every_session_once(open_store: OpenStore) -> None:
    """Whatever the limit; Sessions that are created after the first page stay out of it."""
    check = "pages_give_every_session_once"
    async with open_store() as store:
        await _create(store, "a", "b", "c", "d", "e")
        for limit in (1, 2, 5, 200, 0):
            found = await _all_pages(store, limit)
            expect(check, found == ["e", "d", "c", "b", "a"], f"limit {limit} gives {found}")
        first = await store.list_sessions(_AGENT, _WORKSPACE, limit=2)
        await _create(store, "later")
        second = await store.list_sessions(_AGENT, _WORKSPACE, limit=9, cursor=first.next_cursor)
        ids = [row.id for row in second.sessions]
        expect(check, ids == ["c", "b", "a"], f"the second page gives {ids}")


async def cursors_cannot_be_made_up(open_store: OpenStore) -> None:
    """Altered, foreign and nonsensical cursors are refused, and so are bad limits."""
    check = "cursors_cannot_be_made_up"
    async with open_store() as store:
        await _create(store, "a", "b", "c")
        page = await store.list_sessions(_AGENT, _WORKSPACE, limit=1)
        good = page.next_cursor
        altered = good[:-4] + ("AAAA" if good[-4:] != "AAAA" else "BBBB")
        for bad in (altered, good + "A", good + "==", "nonsense", "ä", "A" * 5, "A" * 5000, " "):
            listing = store.list_sessions(_AGENT, _WORKSPACE, cursor=bad)
            await expect_refusal(check, "invalid_cursor", listing)
        elsewhere = store.list_sessions(_AGENT, WorkspaceId("elsewhere"), cursor=good)
        await expect_refusal(check, "invalid_cursor", elsewhere)
        for limit in (-1, 201):
            listing = store.list_sessions(_AGENT, _WORKSPACE, limit=limit)
            await expect_refusal(check, "invalid_limit", listing)


CHECKS: tuple[Check, ...] = (
    the_newest_change_comes_first,
    a_row_names_the_parent,
    a_listing_keeps_to_its_scope,
    pages_give_every_session_once,
    cursors_cannot_be_made_up,
)
