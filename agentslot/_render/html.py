"""The description as one HTML page: the picture, and tables of slots and modules to search in."""

from collections.abc import Iterator

from agentslot._description import AssemblyDescription
from agentslot._render import assets
from agentslot._render.graph import graph_of
from agentslot._render.layout import layout_of
from agentslot._render.svg import render_svg
from agentslot._render.tables import Tables
from agentslot._render.text import markup

# The browser itself refuses everything that would not be inside the page.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def render_html(description: AssemblyDescription, *, title: str) -> str:
    """Write the page. It needs no network; without scripts the picture and tables still stand."""
    graph = graph_of(description)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{markup(title)}</title>",
            f"<style>\n{assets.text('page.css')}</style>",
            "</head>",
            '<body class="assembly">',
            *_header(description, title),
            *_picture(render_svg(graph, layout_of(graph), title=title)),
            "<main>",
            *Tables(description).sections(),
            '<p class="nothing" hidden>Nothing matches.</p>',
            "</main>",
            f"<script>\n{assets.text('page.js')}</script>",
            "</body>",
            "</html>",
        ]
    )


def _header(description: AssemblyDescription, title: str) -> Iterator[str]:
    yield "<header>"
    yield f"<h1>{markup(title)}</h1>"
    yield f"<p>{', '.join(_counts(description))}</p>"
    yield '<input id="search" type="search" placeholder="Filter slots, modules, types…"'
    yield ' aria-label="Filter slots, modules and types">'
    yield "</header>"


def _counts(description: AssemblyDescription) -> Iterator[str]:
    for things, noun in (
        (description.modules, "module"),
        (description.slots, "slot"),
        (description.profile, "profile requirement"),
    ):
        if things:
            yield f"{len(things)} {noun}{'s' if len(things) > 1 else ''}"


_LEGEND = """\
<ul class="legend" aria-label="Legend">
<li><i class="box"></i>module, numbered in start order</li>
<li><i class="pill one"></i>one</li>
<li><i class="pill many"></i>many ×n</li>
<li><i class="pill chain"></i>chain →n</li>
<li><i class="dot"></i>required by the profile</li>
<li><i class="line"></i>contributes</li>
<li><i class="line dashed"></i>by default</li>
<li><i class="line arrow"></i>is required by</li>
<li><i class="line dotted arrow"></i>can be used by</li>
</ul>"""


def _picture(drawing: str) -> Iterator[str]:
    yield '<section class="picture" aria-label="Graph">'
    yield '<div class="bar">'
    yield _LEGEND
    yield (
        '<div class="zoom" hidden><button data-zoom="fit">Fit</button>'
        '<button data-zoom="out" aria-label="Zoom out">−</button>'
        '<output>100%</output><button data-zoom="in" aria-label="Zoom in">+</button></div>'
    )
    yield "</div>"
    yield f'<div class="view">{drawing}</div>'
    yield "</section>"
