"""What a Session gets of a choice of models: the selector decides, the executor has to know it."""

import logging
from functools import partial

from agentslot.session import ClassifiedError, ErrorKind, ModelConfig
from agentslot.standardagent.runtime.calling import Asker, answer_of

log = logging.getLogger(__name__)


async def selected(asker: Asker, config: ModelConfig) -> ModelConfig:
    """What a Session gets that was given this selection.

    Raises:
        ClassifiedError: the selector does not allow it, or the executor does not know it;
            `unavailable/model_selection_failed` or `deadline_exceeded/model_selection_failed`: the
            selector failed.
    """
    components = asker.components
    if components.selector is not None:
        ask = partial(components.selector.select, config)
        try:
            config = _configuration(await answer_of(asker, "model selector", ask))
        except ClassifiedError:
            raise
        except Exception as error:
            log.exception("the model selector failed")
            late = isinstance(error, TimeoutError)
            raise ClassifiedError(
                ErrorKind.DEADLINE_EXCEEDED if late else ErrorKind.UNAVAILABLE,
                "model_selection_failed",
                f"the model selector {'took too long' if late else 'failed'}; the model is as it"
                " was, and the log has the cause",
            ) from error
    components.executor.inspect(config)
    return config


def _configuration(answer: object) -> ModelConfig:
    if isinstance(answer, ModelConfig):
        return answer
    raise TypeError(f"the model selector answered with a {type(answer).__name__}, no ModelConfig")
