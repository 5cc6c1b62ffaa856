"""The referees of the slots of a standard agent: what each component does, checked from outside.

```python
from agentslot.standardagent.conformance import AGENT_LOOP_SUITE

async def test_my_loop_is_a_loop() -> None:
    await AGENT_LOOP_SUITE.check(MyLoop)
```

A suite is made of plain async functions, `AGENT_LOOP_SUITE.checks`, that need no test framework.
Each takes what makes the component under test, a class for example, or what makes a Module that
brings it; it is called for every application, as every process of a user would. Most checks let the
component work in a standard agent, with a model, tools and a store that are part of the suite. An
approval service is opened together with somebody who answers: see `Approver`.

Nobody can end a component that does not end when it is cancelled: a check of it hangs.
"""

from agentslot._conformance import ConformanceFailure, Suite
from agentslot.standardagent.conformance.agenthook import AGENT_HOOK_SUITE
from agentslot.standardagent.conformance.approval import (
    APPROVAL_SERVICE_SUITE,
    Approver,
    OpenApprover,
)
from agentslot.standardagent.conformance.attemptobserver import ATTEMPT_OBSERVER_SUITE
from agentslot.standardagent.conformance.channels import (
    GATEWAY_CHANNEL_SUITE,
    Calling,
    OpenCalling,
)
from agentslot.standardagent.conformance.choosing import MODEL_CATALOG_SUITE, MODEL_SELECTOR_SUITE
from agentslot.standardagent.conformance.commands import (
    INTERACTION_COMMAND_SUITE,
    Commanding,
    MakeCommanding,
)
from agentslot.standardagent.conformance.compaction import CONTEXT_COMPACTOR_SUITE
from agentslot.standardagent.conformance.context import CONTEXT_SOURCE_SUITE
from agentslot.standardagent.conformance.credentials import (
    CREDENTIAL_RESOLVER_SUITE,
    OpenResolving,
    Resolving,
)
from agentslot.standardagent.conformance.goalevaluator import GOAL_EVALUATOR_SUITE
from agentslot.standardagent.conformance.hooks import (
    COMPLETION_GATE_SUITE,
    INPUT_GATE_SUITE,
    SESSION_LIFECYCLE_SUITE,
    TOOL_PREFLIGHT_SUITE,
    TOOL_RESULT_SUITE,
)
from agentslot.standardagent.conformance.loop import AGENT_LOOP_SUITE
from agentslot.standardagent.conformance.observe import (
    AUDIT_SINK_SUITE,
    COMMIT_OBSERVER_SUITE,
    METRIC_SINK_SUITE,
    TRACE_SINK_SUITE,
    USAGE_RECORDER_SUITE,
)
from agentslot.standardagent.conformance.policy import POLICY_GUARD_SUITE
from agentslot.standardagent.conformance.stage import Make
from agentslot.standardagent.conformance.workspaces import WORKSPACE_MANAGER_SUITE

__all__ = [
    "AGENT_HOOK_SUITE",
    "AGENT_LOOP_SUITE",
    "APPROVAL_SERVICE_SUITE",
    "ATTEMPT_OBSERVER_SUITE",
    "AUDIT_SINK_SUITE",
    "COMMIT_OBSERVER_SUITE",
    "COMPLETION_GATE_SUITE",
    "CONTEXT_COMPACTOR_SUITE",
    "CONTEXT_SOURCE_SUITE",
    "CREDENTIAL_RESOLVER_SUITE",
    "GATEWAY_CHANNEL_SUITE",
    "GOAL_EVALUATOR_SUITE",
    "INPUT_GATE_SUITE",
    "INTERACTION_COMMAND_SUITE",
    "METRIC_SINK_SUITE",
    "MODEL_CATALOG_SUITE",
    "MODEL_SELECTOR_SUITE",
    "POLICY_GUARD_SUITE",
    "SESSION_LIFECYCLE_SUITE",
    "TOOL_PREFLIGHT_SUITE",
    "TOOL_RESULT_SUITE",
    "TRACE_SINK_SUITE",
    "USAGE_RECORDER_SUITE",
    "WORKSPACE_MANAGER_SUITE",
    "Approver",
    "Calling",
    "Commanding",
    "ConformanceFailure",
    "Make",
    "MakeCommanding",
    "OpenApprover",
    "OpenCalling",
    "OpenResolving",
    "Resolving",
    "Suite",
]
