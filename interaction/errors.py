"""Errors of the Gateway and its channels.

ClassifiedError
├── InputGateError          a message was not submitted; session_id, current_revision, diagnostics
├── RunNotCompletedError    a Run ended otherwise than completed; session_id, run_id, status
├── CompatibilityError      another model could not read what the Session holds; lost
├── EventStreamOverflow     a slow subscriber missed a commit
├── ChannelNotBound         a channel was used before its application was built
├── ChannelAlreadyBound     a channel was put into a second application
└── LineTooLong             a line of input was longer than the channel takes
"""

from collections.abc import Mapping

from agentslot._text import counted
from agentslot.session import (
    ClassifiedError,
    ErrorKind,
    ExtensionDiagnostic,
    Modality,
    RunId,
    RunStatus,
    RunTermination,
    SessionId,
)


class InputGateError(ClassifiedError):
    """A message was not submitted: a gate rejected it, failed, or was overtaken by something else.

    Attributes:
        current_revision: revision of the Session now; asking the gates has moved it on.
        diagnostics: the gates that were asked, newest first.
    """

    def __init__(
        self,
        kind: ErrorKind,
        code: str,
        message: str,
        *,
        session_id: SessionId,
        current_revision: int,
        diagnostics: tuple[ExtensionDiagnostic, ...],
    ) -> None:
        super().__init__(kind, code, message)
        self.session_id = session_id
        self.current_revision = current_revision
        self.diagnostics = diagnostics


class RunNotCompletedError(ClassifiedError):
    """The Run ended otherwise than completed; kind, code and message are those of its termination.

    Attributes:
        session_id: the Session, which can go on.
        run_id: the Run.
        status: how it ended: canceled, failed or interrupted.
    """

    def __init__(
        self,
        termination: RunTermination,
        *,
        session_id: SessionId,
        run_id: RunId,
        status: RunStatus,
    ) -> None:
        super().__init__(termination.kind, termination.code, f"run {status}: {termination.message}")
        self.session_id = session_id
        self.run_id = run_id
        self.status = status


class CompatibilityError(ClassifiedError):
    """The Session holds what the other model cannot read; somebody has to accept that.

    Attributes:
        lost: how many attachments of each modality it would not be shown.
    """

    def __init__(self, model: str, lost: Mapping[Modality, int]) -> None:
        held = " and ".join(
            counted(count, f"{modality} attachment") for modality, count in lost.items()
        )
        super().__init__(
            ErrorKind.CONFLICT,
            "compatibility_confirmation_required",
            f"the Session holds {held} that model {model!r} cannot read: it would be told their"
            " names instead; switch with accept_compatibility_loss=True, or choose another model",
        )
        self.lost = dict(lost)


class EventStreamOverflow(ClassifiedError):  # noqa: N818 - named after what happened
    """The subscriber was too slow; the Run goes on. Look at the view and subscribe again."""

    def __init__(self, session_id: SessionId) -> None:
        super().__init__(
            ErrorKind.UNAVAILABLE,
            "event_stream_overflow",
            f"the event stream of Session {session_id!r} overflowed because it was read too slowly:"
            " look at the view and subscribe again",
        )
        self.session_id = session_id


class ChannelNotBound(ClassifiedError):  # noqa: N818 - named after what happened
    """The channel belongs to no built application yet."""

    def __init__(self) -> None:
        super().__init__(
            ErrorKind.UNAVAILABLE,
            "application_not_started",
            "this channel belongs to no application: pass it to gateway_channel(key, channel), put"
            " the module into the application and start it",
        )


class ChannelAlreadyBound(ClassifiedError):  # noqa: N818 - named after what happened
    """The channel belongs to an application already."""

    def __init__(self) -> None:
        super().__init__(
            ErrorKind.CONFLICT,
            "channel_already_bound",
            "this channel belongs to an application already: make a new channel for each one",
        )


class LineTooLong(ClassifiedError):  # noqa: N818 - named after what happened
    """The line was dropped; the next one can be read."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(
            ErrorKind.INVALID_INPUT,
            "line_too_long",
            f"a line of input has more than {max_bytes} bytes and was dropped: put long content"
            " into a file and name the file",
        )
        self.max_bytes = max_bytes
