"""Errors of the Gateway and its channels.

ClassifiedError
├── EventStreamOverflow     a slow subscriber missed a commit
├── ChannelNotBound         a channel was used before its application was built
└── ChannelAlreadyBound     a channel was put into a second application
"""

from agentslot.session import ClassifiedError, ErrorKind, SessionId


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
