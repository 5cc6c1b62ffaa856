"""Asking a token counter that stands alone: whatever it does, a count or an error comes of it."""

import logging
from functools import partial

from agentslot.model import ModelRequest, TokenCount, TokenCounter
from agentslot.session import ClassifiedError, ErrorKind
from agentslot.standardagent.runtime.calling import answer_of
from agentslot.standardagent.runtime.run import Run

log = logging.getLogger(__name__)


async def counted(run: Run, counter: TokenCounter, request: ModelRequest) -> TokenCount:
    """The tokens of a request.

    Raises:
        ClassifiedError: what the counter says of the request;
            `internal/context_preparation_failed`: it failed.
    """
    try:
        ask = partial(counter.count_tokens, request)
        return _count(await answer_of(run.owner, "token counter", ask))
    except ClassifiedError:
        raise
    except Exception as error:
        log.exception("the token counter failed in Run %s", run.id)
        raise ClassifiedError(
            ErrorKind.INTERNAL, "context_preparation_failed", "the token counter failed"
        ) from error


def _count(answer: object) -> TokenCount:
    if isinstance(answer, TokenCount):
        return answer
    raise TypeError(f"the token counter answered with a {type(answer).__name__}, no TokenCount")
