"""The vocabulary of the extension journal: what hooks were asked, and what became of it.

The journal is recovery metadata beside History. Each entry is one invocation of one component at
one of five boundaries. What the component answered and what the answer did to the Session are two
separate things: the status, and the effect.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Literal

from agentslot.session.goal import GoalReference
from agentslot.session.identity import (
    InvocationId,
    MessageId,
    RunId,
    StepId,
    ToolCallId,
    is_identity,
)
from agentslot.session.message import MessageInput
from agentslot.session.text import is_safe_line, text_digest

MAX_DESCRIPTOR_KEY_BYTES = 128
MAX_CONTEXT_INPUTS = 16
MAX_CONTEXT_BYTES = 256 * 1024

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def is_digest(text: str) -> bool:
    """Whether `text` is `sha256:` and 64 lowercase hexadecimal digits."""
    return _DIGEST.fullmatch(text) is not None


class ExtensionBoundary(StrEnum):
    """Where in the life of a Session a hook is asked."""

    INPUT_GATE = "input_gate"
    TOOL_PREFLIGHT = "tool_preflight"
    TOOL_RESULT = "tool_result"
    COMPLETION = "completion"
    SESSION_LIFECYCLE = "session_lifecycle"


class ExtensionStatus(StrEnum):
    """How far an invocation has come.

    `prepared`: recorded, the component has not been called. `pending`: it may have been called; it
    is never called again. The other four are ends.
    """

    PREPARED = "prepared"
    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"
    OUTCOME_UNKNOWN = "outcome_unknown"


class ExtensionEffect(StrEnum):
    """What an ended invocation has done to the Session."""

    NONE = "none"
    PENDING = "pending"
    APPLIED = "applied"
    DISCARDED = "discarded"


class ContextDisposition(StrEnum):
    """Where the context that an invocation proposed has gone."""

    NONE = "none"
    PENDING = "pending"
    CONSUMED = "consumed"
    DISCARDED = "discarded"


class ExtensionDecision(StrEnum):
    """What a hook may decide; which decision is legal depends on the boundary."""

    ACCEPT = "accept"
    REJECT = "reject"
    ALLOW = "allow"
    DENY = "deny"
    REQUIRE_APPROVAL = "require_approval"
    COMPLETE = "complete"
    CONTINUE = "continue"


class LifecyclePhase(StrEnum):
    """Whether a Session is being opened or explicitly closed."""

    OPEN = "open"
    CLOSE = "close"


class OpenKind(StrEnum):
    """How a Session came to be open."""

    CREATE = "create"
    RESUME = "resume"
    FORK = "fork"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class ExtensionDescriptor:
    """Which component it is, and in which definition.

    Attributes:
        key: one safe line of at most 128 bytes.
        digest: `sha256:` and 64 hexadecimal digits over whatever defines the component's behaviour;
            an invocation is resumed after a restart only under the same key and digest.
    """

    key: str
    digest: str

    def __post_init__(self) -> None:
        if not is_identity(self.key) or not is_safe_line(self.key, MAX_DESCRIPTOR_KEY_BYTES):
            msg = f"a descriptor key is one line of 1 to 128 bytes, not {self.key!r}"
            raise ValueError(msg)
        if not is_digest(self.digest):
            msg = f"a descriptor digest is sha256: and 64 hexadecimal digits, not {self.digest!r}"
            raise ValueError(msg)

    @classmethod
    def of(cls, key: str, definition: str) -> "ExtensionDescriptor":
        """Describe a component by a text that changes with its behaviour, such as a version."""
        return cls(key, text_digest(definition))


@dataclass(frozen=True, slots=True)
class ExtensionInvocation:
    """What one component is asked; never changes once it is recorded.

    Attributes:
        input_digest: digest of the view that the component is shown.
        prepared_revision: the revision that the commit which records it makes.
        run_id: the Run concerned; at the input gate the one that a message is to steer.
        target_step_id: the step that contexts would join, where it is known already.
        message_id: the submitted message, or the assistant's.
        phase: of a lifecycle hook only, and `open_kind` only if it is `open`.
        goal: at a completion, the goal that has been found to be met.
    """

    id: InvocationId
    descriptor: ExtensionDescriptor
    boundary: ExtensionBoundary
    input_digest: str
    prepared_revision: int
    run_id: RunId | None = None
    step_id: StepId | None = None
    target_step_id: StepId | None = None
    message_id: MessageId | None = None
    tool_call_id: ToolCallId | None = None
    phase: LifecyclePhase | None = None
    open_kind: OpenKind | None = None
    goal: GoalReference | None = None


@dataclass(frozen=True, slots=True)
class InvocationPrepared:
    """The invocation is recorded: the first step of each."""

    invocation: ExtensionInvocation
    kind: Literal["prepared"] = "prepared"
    status: ClassVar[ExtensionStatus] = ExtensionStatus.PREPARED


@dataclass(frozen=True, slots=True)
class InvocationBegun:
    """The component is about to be called."""

    kind: Literal["begun"] = "begun"
    status: ClassVar[ExtensionStatus] = ExtensionStatus.PENDING


@dataclass(frozen=True, slots=True)
class InvocationSucceeded:
    """The component answered.

    Attributes:
        context: messages that it proposes for the model; they wait until they are consumed or
            discarded.
    """

    decision: ExtensionDecision | None = None
    reason: str = ""
    context: tuple[MessageInput, ...] = ()
    kind: Literal["succeeded"] = "succeeded"
    status: ClassVar[ExtensionStatus] = ExtensionStatus.SUCCEEDED


@dataclass(frozen=True, slots=True)
class InvocationEnded:
    """The component did not answer: `failed`, `canceled` or `outcome_unknown`."""

    status: ExtensionStatus
    code: str
    reason: str = ""
    kind: Literal["ended"] = "ended"


@dataclass(frozen=True, slots=True)
class InvocationSettled:
    """What the end of an invocation has done; `none` leaves as it is what it speaks of."""

    effect: ExtensionEffect = ExtensionEffect.NONE
    context: ContextDisposition = ContextDisposition.NONE
    kind: Literal["settled"] = "settled"


InvocationStep = (
    InvocationPrepared | InvocationBegun | InvocationSucceeded | InvocationEnded | InvocationSettled
)


@dataclass(frozen=True, slots=True)
class ExtensionEntry:
    """One invocation as the journal knows it.

    Attributes:
        sequence: position in the journal, contiguous from 1.
        decision: what the component decided, where its boundary asks for a decision.
        context: what has become of the context it proposed; its size and digest stay for good, the
            messages only while they are pending.
    """

    sequence: int
    invocation: ExtensionInvocation
    prepared_at: datetime
    status: ExtensionStatus = ExtensionStatus.PREPARED
    pending_at: datetime | None = None
    finished_at: datetime | None = None
    decision: ExtensionDecision | None = None
    reason: str = ""
    error_code: str = ""
    error_reason: str = ""
    effect: ExtensionEffect = ExtensionEffect.NONE
    context: ContextDisposition = ContextDisposition.NONE
    context_messages: tuple[MessageInput, ...] = ()
    context_digest: str = ""
    context_bytes: int = 0

    @property
    def is_open(self) -> bool:
        """Whether anything about it can still change."""
        return (
            self.finished_at is None
            or self.effect is ExtensionEffect.PENDING
            or self.context is ContextDisposition.PENDING
        )
