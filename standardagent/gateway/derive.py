"""New Sessions out of old ones, as the Gateway offers them."""

from agentslot.interaction import ForkSession, StartFromSummary
from agentslot.session import ClassifiedError, ErrorKind, NewSession, followed_by, read_history
from agentslot.session.forking import ForkMode, fork, start_from_summary
from agentslot.standardagent.runtime.components import Components


async def forked(components: Components, request: ForkSession) -> NewSession:
    """What a store needs to create the copy that the request asks for."""
    for content in request.messages:
        content.require_unicode()
    source = (await components.store.load(request.source)).state
    new = await read_history(
        source.history,
        fork,
        source,
        components.ids.session(),
        mode=_mode(request),
        cutoff=request.cutoff,
        agent=request.agent,
        workspace=request.workspace,
        model_config=request.model_config,
    )
    return followed_by(new, request.messages, now=components.now())


def _mode(request: ForkSession) -> ForkMode:
    try:
        return ForkMode(request.mode)
    except ValueError as error:
        modes = " or ".join(repr(str(mode)) for mode in ForkMode)
        message = f"a fork is of mode {modes}, not {request.mode!r}"
        raise ClassifiedError(ErrorKind.INVALID_INPUT, "invalid_fork_mode", message) from error


async def summarized(components: Components, request: StartFromSummary) -> NewSession:
    """What a store needs to create a Session that begins with the request's messages."""
    for content in request.messages:
        content.require_unicode()
    source = None
    if request.source is not None:
        source = (await components.store.load(request.source)).state
    config = request.model_config or (source.model_config if source else components.default_model)
    return start_from_summary(
        components.ids.session(),
        request.messages,
        agent=request.agent,
        workspace=request.workspace,
        now=components.now(),
        model_config=config,
        source=source,
    )
