"""The referee of `goal.store/v1`: what every store of goals does, checked from outside.

```python
from agentslot.standardagent.goal.conformance import check_goal_store

async def test_my_store_is_a_goal_store() -> None:
    await check_goal_store(my_store_on_fresh_storage)
```

The function given makes fresh storage and returns how to open the store on it: `OpenGoals`, called
each time the store is opened. Entering opens it, leaving closes it. What was acknowledged must be
there when it is opened again, unless the store is volatile.
"""

from agentslot._conformance import ConformanceFailure
from agentslot.standardagent.goal.conformance.check import Check, OpenGoals
from agentslot.standardagent.goal.conformance.suite import (
    CHECKS,
    CONTRACT,
    DURABILITY_CHECKS,
    check_goal_store,
    run_check,
)

__all__ = [
    "CHECKS",
    "CONTRACT",
    "DURABILITY_CHECKS",
    "Check",
    "ConformanceFailure",
    "OpenGoals",
    "check_goal_store",
    "run_check",
]
