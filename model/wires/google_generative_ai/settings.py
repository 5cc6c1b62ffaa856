"""How a server of Gemini models is spoken to."""

from dataclasses import dataclass
from urllib.parse import quote

from agentslot.model.wires.google_generative_ai.families import GeminiFamily, family_of

_METHOD = ":streamGenerateContent?alt=sse"


@dataclass(frozen=True, slots=True)
class VertexProject:
    """The project and place in Google Cloud that models are asked in.

    Attributes:
        project: id of the project.
        location: a region such as `us-central1`, or `global`.

    Raises:
        ValueError: project or location is no single name.
    """

    project: str
    location: str = "global"

    def __post_init__(self) -> None:
        for name, value in (("project", self.project), ("location", self.location)):
            if not value or quote(value, safe=":") != value:  # old projects have a domain: before
                raise ValueError(
                    f"{name} must be the id of a {name} in Google Cloud, not {value!r}"
                )

    @property
    def base_url(self) -> str:
        """The server of the location."""
        region = "" if self.location == "global" else f"{self.location}-"
        return f"https://{region}aiplatform.googleapis.com"


@dataclass(frozen=True, slots=True)
class GoogleSettings:
    """Settings of the wire; the defaults are those of Google's own servers today.

    Attributes:
        vertex: ask in a project of Google Cloud, with an access token; None asks AI Studio, with a
            key. Nothing in the environment switches this.
        api_version: first part of the path, such as `v1` or `v1beta`.
        show_thoughts: whether summaries of the thinking are asked for.
        family: how the models think and what they check; None tells it by their names.
        unsigned_call: what stands for the signature of a call that none of these models made, on
            models that refuse calls without one. The vendor gives this word for it.
    """

    vertex: VertexProject | None = None
    api_version: str = "v1"
    show_thoughts: bool = False
    family: GeminiFamily | None = None
    unsigned_call: str = "skip_thought_signature_validator"

    def family_of(self, model: str) -> GeminiFamily:
        """The family of that model."""
        return self.family or family_of(model)

    def path(self, model: str) -> str:
        """Where the model is asked. A name with a slash, such as `tunedModels/x`, is complete."""
        name = quote(model, safe="/")
        if self.vertex is None:
            return f"/{self.api_version}/{name if '/' in name else f'models/{name}'}{_METHOD}"
        place = f"projects/{self.vertex.project}/locations/{self.vertex.location}"
        if "/" not in name:
            name = f"publishers/google/models/{name}"
        whole = name if name.startswith("projects/") else f"{place}/{name}"
        return f"/{self.api_version}/{whole}{_METHOD}"
