"""What MemoryStore remembers of a commit is enough to know it again, and no other."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from agentslot.session import (
    Actor,
    ActorKind,
    AppendMessage,
    AppendToolCall,
    AppendToolResult,
    AttemptStatus,
    Change,
    ClassifiedError,
    Commit,
    CommitRequest,
    EditQueued,
    MemoryStore,
    MessageId,
    ModelConfig,
    SessionState,
    SetModelConfig,
    TextPart,
)
from tests.session.scenario import (
    MODEL,
    assistant,
    attempt,
    call,
    context,
    new_session,
    pending,
    queued,
    request,
    result,
    run_ended,
    run_started,
    user,
)

SOMEBODY = Actor(ActorKind.LOCAL_USER, "somebody")

# Commits that append, that change something else, and that do both.
STORY: list[Callable[[SessionState], list[Change]]] = [
    lambda state: [SetModelConfig(ModelConfig("openai", "gpt-6"))],
    lambda state: [SetModelConfig(MODEL)],
    lambda state: [queued("q1")],
    lambda state: [run_started(4), AppendMessage(user("u1"))],
    lambda state: [context(state), attempt("t1")],
    lambda state: [
        attempt("t1", AttemptStatus.SUCCEEDED, tokens=7),
        AppendMessage(assistant("a1")),
        AppendToolCall(call("c1")),
    ],
    lambda state: [pending("c1")],
    lambda state: [AppendToolResult(result("c1"))],
    lambda state: [
        AppendMessage(assistant("a3")),
        AppendToolCall(call("c2", "a3")),
        pending("c2"),
        queued("q2"),
        AppendToolResult(result("c2")),
    ],
    lambda state: [AppendMessage(assistant("a2", "done")), run_ended(4)],
]


def others(made: CommitRequest) -> Iterator[CommitRequest]:
    """Requests under the same key that are not the same."""
    yield replace(made, expected_revision=made.expected_revision + 1)
    yield replace(made, actor=None if made.actor else SOMEBODY)
    yield replace(made, changes=(*made.changes, queued("another")))
    yield replace(made, changes=(AppendMessage(user("another")), *made.changes[1:]))
    if len(made.changes) > 1:
        yield replace(made, changes=made.changes[:-1])
        yield replace(made, changes=made.changes[::-1])


@pytest.mark.parametrize("actor", [None, SOMEBODY])
async def test_each_commit_is_known_again_and_no_other_is_taken_for_it(
    actor: Actor | None,
) -> None:
    store = MemoryStore()
    state = await store.create(new_session())
    commits = list[tuple[CommitRequest, Commit]]()
    for number, changes in enumerate(STORY):
        made = replace(request(state, f"key-{number}", *changes(state)), actor=actor)
        commit = await store.commit(made)
        commits.append((made, commit))
        state = commit.state
    for made, commit in commits:
        again = await store.commit(replace(made, changes=tuple(map(replace, made.changes))))
        assert again == replace(commit, state=state, applied=False)
        for other in others(made):
            with pytest.raises(ClassifiedError) as caught:
                await store.commit(other)
            assert caught.value.code == "revision_conflict"


async def test_what_no_other_store_could_keep_is_refused_with_its_place() -> None:
    store = MemoryStore()
    state = await store.create(new_session())

    half = (TextPart("half \ud800"),)
    for changes, place in (
        ((SetModelConfig(ModelConfig("openai", "half \ud800")),), "$.changes[0].config.model"),
        ((queued("q1"), EditQueued(MessageId("q1"), half)), "$.changes[1].parts[0].text"),
    ):
        with pytest.raises(ClassifiedError) as caught:
            await store.commit(CommitRequest(state.id, 1, "key", changes))
        assert caught.value.code == "text_not_unicode"
        assert caught.value.message.startswith(place)
