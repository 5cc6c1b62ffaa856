"""Style sheets and script of the drawings, kept beside the code as files of their own kind."""

from importlib.resources import files


def text(name: str) -> str:
    """Read one asset, for example `graph.css`."""
    return files("agentslot._render").joinpath(name).read_text(encoding="utf-8")
