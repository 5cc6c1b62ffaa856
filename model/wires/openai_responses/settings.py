"""How a server of the Responses API is spoken to."""

import re
from dataclasses import dataclass
from typing import Literal

from agentslot.model.wires.caching import CacheRetention

_NOT_REASONING = re.compile(r"(?:^|[/.])(?:gpt-[34]|chatgpt-)|-chat(?:-latest)?$")


@dataclass(frozen=True, slots=True)
class ResponsesSettings:
    """Settings of the wire; the defaults are those of OpenAI's own server today.

    Attributes:
        cache: what is asked of the prompt cache. It works by itself; SHORT names the Session, so
            that its requests find each other, and LONG asks for a day.
        reasoning: whether the models reason; None tells it by their names. Of one that does, the
            encrypted thinking is asked for, which it needs back; others refuse that.
        summary: how much of the thinking is shown. OpenAI shows it to verified organizations only.
        service_tier: what to be served by, such as `flex`, which is cheaper and slower, or
            `priority`; None leaves it to the project's settings. What it costs follows from the
            tier that the server then says it took.
    """

    cache: CacheRetention = CacheRetention.SHORT
    reasoning: bool | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None
    service_tier: str | None = None

    def reasons(self, model: str) -> bool:
        """Whether that model reasons."""
        return not _NOT_REASONING.search(model) if self.reasoning is None else self.reasoning
