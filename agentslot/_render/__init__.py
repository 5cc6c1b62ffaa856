"""Pictures of an assembly: pure functions of its description, equal bytes for equal input."""

from typing import Literal, get_args

from agentslot._description import AssemblyDescription
from agentslot._render.graph import graph_of
from agentslot._render.html import render_html
from agentslot._render.layout import layout_of
from agentslot._render.mermaid import render_mermaid
from agentslot._render.svg import render_svg
from agentslot._render.tree import print_tree, render_tree

__all__ = ["FORMATS", "Format", "print_tree", "render"]

Format = Literal["tree", "json", "mermaid", "svg", "html"]
"""What `render` can produce."""

FORMATS: tuple[Format, ...] = get_args(Format)
"""All formats, the one for a terminal first."""


def render(
    description: AssemblyDescription,
    format: Format = "tree",  # noqa: A002 - the word that the command uses too
    *,
    title: str = "Assembly",
) -> str:
    """Draw a description as text without a closing line break.

    Args:
        description: what `Assembly.describe()` returned.
        format: `tree` for a terminal, `json` for programs, `mermaid` for Markdown, `svg` for a
            picture, `html` for a page with the picture and searchable tables.
        title: heading of the picture and of the page.
    """
    match format:
        case "tree":
            return render_tree(description)
        case "json":
            return description.model_dump_json(indent=2)
        case "mermaid":
            return render_mermaid(graph_of(description))
        case "svg":
            graph = graph_of(description)
            return render_svg(graph, layout_of(graph), title=title)
        case "html":
            return render_html(description, title=title)
