"""What code that we are handed may raise and thereby end no more than itself."""

from typing import cast


def is_failure(error: BaseException) -> bool:
    """Whether it says that the code has failed: its caller goes on with that.

    `sys.exit` ends what was asked, not the application, alone or in a group with other failures. A
    cancellation is no failure, and neither is what ends the process.
    """
    if isinstance(error, Exception):
        return True
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_failure, cast("BaseExceptionGroup[BaseException]", error).exceptions))
    return isinstance(error, SystemExit)
