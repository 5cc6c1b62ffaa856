"""What is wrong with a hook that an application cannot be built with."""

from agentslot import CompositionError


class InvalidHook(CompositionError):  # noqa: N818 - named after what happened, like its siblings
    """A hook's descriptor or scope is not usable, or two hooks of a slot have one key."""
