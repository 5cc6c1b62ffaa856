"""Settings of the standard agent, fixed for the life of an application."""

from dataclasses import dataclass
from enum import StrEnum


class ContextRetention(StrEnum):
    """Which request views a Session keeps: the newest, or every one."""

    LATEST_ONLY = "latest_only"
    RETAIN_ALL = "retain_all"


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """Settings that no Run and no model switch changes. A limit of 0 means no limit.

    Attributes:
        system_prompt: the fixed prompt; empty for none.
        tool_keys: the tools that the model sees, by key; a tool that is installed and not named
            here is never offered and never run. None, too, names no tool.
        max_inline_tool_result_bytes: most bytes of one tool result; a longer one is an error.
        hard_token_limit: a cap on the request below the model's own context window.
        context_retention: which request views are kept.
        max_tokens_per_run: token budget of a Run; checked before each request.
        max_model_attempts_per_run: physical requests per Run.
        max_tool_calls_per_run: tool calls per Run; a batch that does not fit does not run at all.
        component_timeout_seconds: how long a hook, a policy guard, a context source, a compactor,
            a token counter, a model selector or an attempt observer may take for one answer. Later
            it counts as failed. Long enough for a gate that runs tests; a component that should
            give up earlier raises TimeoutError itself.
        keep_waiting_approvals: whether a Run that waits for an approval outlasts a stop of the
            application: it stays as it is, and asks again when its Session is resumed. Otherwise
            it ends as canceled, as every other Run does.
    """

    system_prompt: str = ""
    tool_keys: tuple[str, ...] = ()
    max_inline_tool_result_bytes: int = 65536
    hard_token_limit: int = 0
    context_retention: ContextRetention = ContextRetention.LATEST_ONLY
    max_tokens_per_run: int = 0
    max_model_attempts_per_run: int = 0
    max_tool_calls_per_run: int = 0
    component_timeout_seconds: float = 600.0
    keep_waiting_approvals: bool = False

    def __post_init__(self) -> None:
        # A text that is merely spelled like a retention must not pass for another one.
        object.__setattr__(self, "context_retention", ContextRetention(self.context_retention))
        if self.tool_keys is None:  # pyright: ignore[reportUnnecessaryComparison]  # untyped code
            object.__setattr__(self, "tool_keys", ())
        if not isinstance(self.system_prompt, str | None):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped code
            msg = (
                f"system_prompt must be a text, not {self.system_prompt!r}: what changes from"
                " request to request comes from a context source"
            )
            raise TypeError(msg)
        if not isinstance(self.tool_keys, tuple):  # pyright: ignore[reportUnnecessaryIsInstance]
            # A bare text is iterable too, and would silently name tools of one letter each.
            msg = f"tool_keys must be a tuple of tool names, not {self.tool_keys!r}"
            raise TypeError(msg)
        if len(set(self.tool_keys)) != len(self.tool_keys):
            msg = f"tool_keys names a tool twice: {', '.join(self.tool_keys)}"
            raise ValueError(msg)
        limits = {
            "hard_token_limit": self.hard_token_limit,
            "max_tokens_per_run": self.max_tokens_per_run,
            "max_model_attempts_per_run": self.max_model_attempts_per_run,
            "max_tool_calls_per_run": self.max_tool_calls_per_run,
            "component_timeout_seconds": self.component_timeout_seconds,
        }
        for name, value in limits.items():
            if not isinstance(value, int | float):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped code
                msg = f"{name} must be a number, not {value!r}"
                raise TypeError(msg)
            if not value >= 0:  # nor is NaN a limit
                msg = f"{name} must be 0 (no limit) or more, not {value}"
                raise ValueError(msg)
        if self.max_inline_tool_result_bytes < 1:
            msg = (
                "max_inline_tool_result_bytes must be at least 1, not"
                f" {self.max_inline_tool_result_bytes}"
            )
            raise ValueError(msg)
