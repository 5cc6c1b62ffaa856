"""How a server of Gemini models is spoken to."""

from dataclasses import dataclass

from agentslot.model.wires.google_generative_ai.families import GeminiFamily, family_of


@dataclass(frozen=True, slots=True)
class GoogleSettings:
    """Settings of the wire; the defaults are those of Google's own servers today.

    Attributes:
        api_version: first part of the path, such as `v1` or `v1beta`.
        show_thoughts: whether summaries of the thinking are asked for.
        family: how the models think and what they check; None tells it by their names.
        unsigned_call: what stands for the signature of a call that none of these models made, on
            models that refuse calls without one. The vendor gives this word for it.
        service_tier: what to be served by, such as `flex`, which is cheaper and slower, or
            `priority`; None is the ordinary tier. What it costs follows from the tier that the
            server then says it took.
    """

    api_version: str = "v1"
    show_thoughts: bool = False
    family: GeminiFamily | None = None
    unsigned_call: str = "skip_thought_signature_validator"
    service_tier: str | None = None

    def family_of(self, model: str) -> GeminiFamily:
        """The family of that model."""
        return self.family or family_of(model)

    def takes_output_with_tools(self, model: str) -> bool:
        """Whether that model takes a schema for its answer together with tools."""
        return self.family_of(model).output_with_tools
