"""The referee of `session.store/v2`: what every store does, checked from outside.

```python
from agentslot.session.conformance import check_store

async def test_my_store_is_a_session_store() -> None:
    await check_store(my_store_on_fresh_storage)
```

The function given makes fresh storage and returns how to open the store on it: `OpenStore`, called
each time the store is opened. Entering opens it, leaving closes it. What was committed must be
there when it is opened again, unless the store is volatile. A store of artifacts has a referee of
its own: `await check_artifact_store(my_empty_store)`.
"""

from agentslot._conformance import ConformanceFailure
from agentslot.session.conformance.artifacts import (
    ARTIFACT_CHECKS,
    ARTIFACT_CONTRACT,
    ArtifactCheck,
    check_artifact_store,
)
from agentslot.session.conformance.check import Check, OpenStore
from agentslot.session.conformance.suite import (
    CHECKS,
    CONTRACT,
    DURABILITY_CHECKS,
    check_store,
    run_check,
)

__all__ = [
    "ARTIFACT_CHECKS",
    "ARTIFACT_CONTRACT",
    "CHECKS",
    "CONTRACT",
    "DURABILITY_CHECKS",
    "ArtifactCheck",
    "Check",
    "ConformanceFailure",
    "OpenStore",
    "check_artifact_store",
    "check_store",
    "run_check",
]
