"""The referee of `model.executor/v1`: what every executor does, checked from outside.

```python
from agentslot.model.conformance import check_executor

async def test_mine_is_a_model_executor() -> None:
    await check_executor(my_executor_before_a_scripted_provider)
```

The function given takes scenes, the first for the provider's first request and so on; the last one
repeats. It opens an executor in front of a provider that plays them: see `Scene` and `Stage`. The
executor should wait as little as it can before it tries again.

`TOKEN_COUNTER_SUITE` judges what counts the tokens of a request, see `counting`, and
`MODEL_PROVIDER_SUITE` one provider behind the executor that everybody uses, see `provider`. What
stands before providers is judged by `MODEL_MIDDLEWARE_SUITE`, see `middleware`.
"""

from agentslot._conformance import ConformanceFailure
from agentslot.model.conformance.counting import TOKEN_COUNTER_SUITE, Counting, OpenCounting
from agentslot.model.conformance.middleware import MODEL_MIDDLEWARE_SUITE, MakeMiddleware
from agentslot.model.conformance.provider import (
    MODEL_PROVIDER_SUITE,
    OpenProvider,
    ProviderStage,
)
from agentslot.model.conformance.scene import (
    IN_FORM,
    UNSAFE_MESSAGE,
    Check,
    OpenStage,
    Scene,
    Stage,
)
from agentslot.model.conformance.suite import CHECKS, CONTRACT, check_executor, run_check

__all__ = [
    "CHECKS",
    "CONTRACT",
    "IN_FORM",
    "MODEL_MIDDLEWARE_SUITE",
    "MODEL_PROVIDER_SUITE",
    "TOKEN_COUNTER_SUITE",
    "UNSAFE_MESSAGE",
    "Check",
    "ConformanceFailure",
    "Counting",
    "MakeMiddleware",
    "OpenCounting",
    "OpenProvider",
    "OpenStage",
    "ProviderStage",
    "Scene",
    "Stage",
    "check_executor",
    "run_check",
]
