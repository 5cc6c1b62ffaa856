"""The referee of `tool/v1` and `tool.middleware/v1`: what all of a kind do, checked from outside.

```python
from agentslot.tool.conformance import Trial, check_tool

async def test_my_tool_is_a_tool() -> None:
    await check_tool(my_tool, Trial({"city": "Paris"}))
```

The trial is a call that the tool can carry out; it is made several times, so its effect should be
one that can be repeated. A middleware is judged by `await check_middleware(my_middleware)`. The
checks are plain async functions and need no test framework.
"""

from agentslot._conformance import ConformanceFailure
from agentslot.tool.conformance.calls import Check, Trial
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
    "MIDDLEWARE_CHECKS",
    "MIDDLEWARE_CONTRACT",
    "Check",
    "ConformanceFailure",
    "MiddlewareCheck",
    "Trial",
    "check_middleware",
    "check_tool",
]
