"""Where a model is asked: at AI Studio, or in a project of Google Cloud."""

from dataclasses import dataclass
from urllib.parse import quote

AI_STUDIO = "https://generativelanguage.googleapis.com"

METHOD = ":streamGenerateContent?alt=sse"


@dataclass(frozen=True, slots=True)
class VertexProject:
    """The project and location in Google Cloud that models are asked in.

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
            if not value or quote(value, safe=":") != value:  # old projects are `domain:name`
                raise ValueError(
                    f"{name} must be the id of a {name} in Google Cloud, not {value!r}"
                )

    @property
    def base_url(self) -> str:
        """The server of the location."""
        region = "" if self.location == "global" else f"{self.location}-"
        return f"https://{region}aiplatform.googleapis.com"


def path_of(model: str, api_version: str, vertex: VertexProject | None) -> str:
    """The path under which a model is asked.

    A name with a slash is a path already: `tunedModels/x`, `publishers/meta/models/x`.
    """
    name = quote(model, safe="/")
    if "/" not in name:
        name = f"models/{name}" if vertex is None else f"publishers/google/models/{name}"
    if vertex is not None and not name.startswith("projects/"):
        name = f"projects/{vertex.project}/locations/{vertex.location}/{name}"
    return f"/{api_version}/{name}{METHOD}"
