"""Finding the place to which a Session is rewound, through the Gateway alone."""

from collections.abc import Sequence

from agentslot.interaction.gateway import ForkSession, GatewayAccess
from agentslot.session import (
    ClassifiedError,
    ErrorKind,
    Fact,
    MessageId,
    SessionId,
    branch_summary,
    rewind_cutoff,
)


async def rewinding(
    access: GatewayAccess, session_id: SessionId, before: MessageId | None, summary: str
) -> ForkSession:
    """The fork that takes a message back, or the last one that began a Run.

    Raises:
        ClassifiedError: `not_found/message_not_found`.
    """
    view = await access.view(session_id)
    facts: Sequence[Fact] = view.recent_history
    has_more = view.has_more_history
    while (cutoff := rewind_cutoff(facts, before)) is None:
        if not has_more:
            raise ClassifiedError(
                ErrorKind.NOT_FOUND,
                "message_not_found",
                f"Session {session_id!r} has no user message {before!r}"
                if before is not None
                else f"Session {session_id!r} has no message that began a run",
            )
        page = await access.history(session_id, before_sequence=facts[0].sequence)
        facts, has_more = (*page.facts, *facts), page.has_more
    return ForkSession(
        session_id,
        "history_prefix",
        view.agent,
        view.workspace,
        cutoff,
        messages=(branch_summary(summary),) if summary else (),
    )
