"""Going back: where a Session is cut to take a message back, and what the new branch is told."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from agentslot.session.facts import Fact, RunFact, RunStatus
from agentslot.session.identity import SERVICE_ACTOR, Actor, MessageId
from agentslot.session.message import Message, MessageInput, Role, TextPart
from agentslot.session.store import NewSession

_SUMMARY = """\
We went back to an earlier point of this conversation. This is what happened on the branch that we \
left; none of it is part of this conversation:

<branch_summary>
{summary}
</branch_summary>"""


def rewind_cutoff(facts: Sequence[Fact], before: MessageId | None = None) -> int | None:
    """Sequence of the last fact to keep so that a user message has not been said.

    Args:
        facts: a stretch of History, oldest first, that holds the message.
        before: the message to take back; without one, the last that began a Run.

    Returns:
        What `fork` takes as `cutoff`, 0 to start over; None if the message is not in the stretch,
        or the stretch begins with it, so that nobody can tell whether its Run begins there.
    """
    for position in range(len(facts) - 1, -1, -1):
        message = facts[position].payload
        if not isinstance(message, Message) or message.role is not Role.USER:
            continue
        begins = position > 0 and _begins_run(facts[position - 1])
        if message.id == before if before is not None else begins:
            if position == 0 and facts[0].sequence > 1:
                return None
            return facts[position].sequence - (2 if begins else 1)
    return None


def _begins_run(fact: Fact) -> bool:
    return isinstance(fact.payload, RunFact) and fact.payload.status is RunStatus.STARTED


def branch_summary(summary: str) -> MessageInput:
    """What a model is told of the branch that was left, in words that never change."""
    return MessageInput((TextPart(_SUMMARY.format(summary=summary)),))


def followed_by(
    new: NewSession,
    messages: Sequence[MessageInput],
    *,
    now: datetime,
    actor: Actor = SERVICE_ACTOR,
) -> NewSession:
    """The new Session with user messages of no Run behind what it starts with.

    Args:
        new: what `fork` gave.
        messages: what is said before anybody sends anything, such as a `branch_summary`.
        now: time of the messages.
        actor: who says it.
    """
    facts = tuple(
        Fact(
            new.id,
            len(new.facts) + number,
            None,
            None,
            now,
            actor,
            Message(MessageId(f"{new.id}.said-{number}"), Role.USER, message.parts, now),
        )
        for number, message in enumerate(messages, 1)
    )
    return replace(new, facts=(*new.facts, *facts))
