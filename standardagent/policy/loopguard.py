"""The loop guard: a call that brings the same result again and again is not made once more."""

from agentslot import Module
from agentslot._json import JsonError, canonical_json
from agentslot.session import (
    SESSION_STORE,
    SessionState,
    SessionStore,
    ToolCall,
    ToolResult,
    read_history,
)
from agentslot.standardagent.policy.contract import (
    ALLOW,
    POLICY_GUARDS,
    Decision,
    PolicyEffect,
    ToolAction,
)

_DENIED = "policy_denied"


class LoopGuard:
    """Denies a call whose last results in this Run were all the same.

    It looks at nothing but History, so that it decides alike after a restart.
    """

    def __init__(self, store: SessionStore, *, repeats: int = 3) -> None:
        """Set up the guard.

        Args:
            store: where History is read.
            repeats: how many times the same call may bring the same result.

        Raises:
            ValueError: `repeats` is below 1.
        """
        if repeats < 1:
            raise ValueError("repeats must be 1 or more")
        self._store = store
        self._repeats = repeats

    async def evaluate(self, action: ToolAction) -> Decision:
        """Deny if the Run has just made this call so often, with the same result each time."""
        state = (await self._store.load(action.session_id)).state
        count = await read_history(state.history, _repetitions, state, action.call, self._repeats)
        if count < self._repeats:
            return ALLOW
        return Decision(
            PolicyEffect.DENY,
            f"{action.call.name} was called {self._repeats} times in a row with these arguments "
            "and gave the same result each time; change the arguments or go another way",
        )


def LoopGuardModule(repeats: int = 3) -> Module:  # noqa: N802 - like the other modules
    """The loop guard, which no application has unless it names it."""
    return Module(
        "policy.loop-guard",
        POLICY_GUARDS.append_with(
            lambda resolver: LoopGuard(resolver[SESSION_STORE], repeats=repeats)
        ),
        requires=(SESSION_STORE.required(),),
    )


def _repetitions(state: SessionState, call: ToolCall, enough: int) -> int:
    """How many of the last results of the Run belong to this very call and are all the same."""
    wanted = _identity(call)
    calls: dict[str, ToolCall] = {}
    results: list[ToolResult] = []
    for fact in reversed(state.history):
        if fact.run_id != call.run_id:
            break
        if isinstance(fact.payload, ToolResult):
            results.append(fact.payload)
        elif isinstance(fact.payload, ToolCall):
            calls[fact.payload.id] = fact.payload
    count = 0
    outcome: object = None
    for result in results:
        made = calls.get(result.call_id)
        if made is None or _identity(made) != wanted:
            break
        if result.error is not None and result.error.code == _DENIED:
            continue
        found = (result.output, result.error, result.artifacts)
        if count and found != outcome:
            break
        count, outcome = count + 1, found
        if count == enough:
            break
    return count


def _identity(call: ToolCall) -> tuple[str, str]:
    """Name and arguments, whose spelling does not matter."""
    try:
        return call.name, canonical_json(call.arguments)
    except JsonError:
        return call.name, call.arguments
