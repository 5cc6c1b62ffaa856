"""The referees of tools, of their middleware and of places where commands run.

```python
from agentslot.tool.conformance import Trial, check_tool

async def test_my_tool_is_a_tool() -> None:
    await check_tool(my_tool, Trial({"city": "Paris"}))
```

The trial is a call that the tool can carry out; it is made several times, so its effect should be
one that can be repeated. A middleware is judged by `await check_middleware(my_middleware)`, and an
environment by `await EXECUTION_ENVIRONMENT_SUITE.check(MyEnvironment)`. The checks are plain async
functions and need no test framework.
"""

from agentslot._conformance import ConformanceFailure
from agentslot.tool.conformance.calls import Check, Trial
from agentslot.tool.conformance.environment import EXECUTION_ENVIRONMENT_SUITE, MakeEnvironment
from agentslot.tool.conformance.middleware import (
    MIDDLEWARE_CHECKS,
    MIDDLEWARE_CONTRACT,
    MiddlewareCheck,
    check_middleware,
)
from agentslot.tool.conformance.suite import CHECKS, CONTRACT, check_tool

__all__ = [
    "CHECKS",
    "CONTRACT",
    "EXECUTION_ENVIRONMENT_SUITE",
    "MIDDLEWARE_CHECKS",
    "MIDDLEWARE_CONTRACT",
    "Check",
    "ConformanceFailure",
    "MakeEnvironment",
    "MiddlewareCheck",
    "Trial",
    "check_middleware",
    "check_tool",
]
