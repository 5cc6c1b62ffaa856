"""What every format promises."""

import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import given

from agentslot._description import AssemblyDescription
from agentslot._render import FORMATS, Format, render
from tests.render.descriptions import (
    agent,
    chain_of,
    contribution,
    descriptions,
    module,
    need,
    slot,
)

MARKUP = '<script>alert("1")</script>'


def hostile() -> AssemblyDescription:
    return AssemblyDescription(
        modules=(module(MARKUP), module("b", need(MARKUP, "many", MARKUP))),
        slots=(slot(MARKUP, "many", contribution(MARKUP, "default", MARKUP)),),
        profile=(need(MARKUP, "many"),),
    )


class Page(HTMLParser):
    """Collects elements and text, and fails on a tag that is not closed."""

    VOID = frozenset({"meta", "input", "link", "img", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def classed(self, name: str) -> list[dict[str, str | None]]:
        return [
            attributes
            for _, attributes in self.elements
            if name in (attributes.get("class") or "").split()
        ]


@pytest.mark.parametrize("form", FORMATS)
def test_equal_descriptions_give_equal_text(form: Format) -> None:
    assert render(agent(), form) == render(agent(), form)


@pytest.mark.parametrize("form", FORMATS)
def test_an_assembly_of_nothing_is_drawn_too(form: Format) -> None:
    assert render(AssemblyDescription(modules=(), slots=()), form)


@pytest.mark.parametrize("form", ["tree", "mermaid", "svg", "html"])
def test_every_module_and_every_slot_is_shown(form: Format) -> None:
    description = agent()
    text = render(description, form)
    assert all(item.id in text for item in description.modules)
    assert all(item.id in text for item in description.slots)


def test_json_is_the_canonical_description() -> None:
    text = render(agent(), "json")
    assert AssemblyDescription.model_validate_json(text) == agent()
    assert json.loads(text)["schema"] == "agentslot.assembly/v0"


@given(descriptions())
def test_any_identifiers_give_well_formed_svg(description: AssemblyDescription) -> None:
    root = ET.fromstring(render(description, "svg"))
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    drawn = {"svg", "title", "style", "defs", "marker", "g", "path", "rect", "text", "circle"}
    assert tags <= drawn


@given(descriptions())
def test_any_identifiers_give_a_page_whose_elements_all_close(
    description: AssemblyDescription,
) -> None:
    page = Page(render(description, "html"))
    assert page.open == []
    assert sum(tag == "script" for tag, _ in page.elements) == 1


@given(descriptions())
def test_any_identifiers_give_balanced_mermaid(description: AssemblyDescription) -> None:
    header, *lines = render(description, "mermaid").split("\n")
    assert header == "flowchart LR"
    node = r'[ms]\d+(\["[^"]*"\]|\(\["[^"]*"\]\)):::(module|one|many|chain)'
    edge = r'[ms]\d+ (-->|-\.->|==>)(\|"[^"]*"\|)? [ms]\d+'
    classes = r"class(Def)? [\w,]+ [\w:#,-]+"
    for line in lines:
        assert re.fullmatch(f"    ({node}|{edge}|{classes})", line), line


@given(descriptions())
def test_any_identifiers_give_a_tree_without_control_characters(
    description: AssemblyDescription,
) -> None:
    assert all(line.isprintable() for line in render(description, "tree").split("\n"))


@pytest.mark.parametrize("form", ["mermaid", "svg", "html"])
def test_markup_in_an_identifier_never_reaches_the_output(form: Format) -> None:
    text = render(hostile(), form, title=MARKUP)
    assert MARKUP not in text
    assert "alert" in text


def test_the_page_shows_markup_in_an_identifier_as_text() -> None:
    assert MARKUP in Page(render(hostile(), "html")).text


def test_the_page_asks_nothing_of_the_network() -> None:
    text = render(agent(), "html")
    page = Page(text)
    assert "default-src 'none'" in text
    assert not [attributes for _, attributes in page.elements if "src" in attributes]
    assert not {"link", "img", "iframe", "image", "use"} & {tag for tag, _ in page.elements}
    assert all((item.get("href") or "#").startswith("#") for _, item in page.elements)
    assert not re.search(r"@import|url\((?!#)", text)


def test_the_page_has_a_row_for_every_node_of_the_picture() -> None:
    page = Page(render(agent(), "html"))
    nodes = {node["id"] for node in page.classed("node")}
    rows = {item["data-node"] for _, item in page.elements if "data-node" in item}
    links = {(item["href"] or "")[1:] for tag, item in page.elements if tag == "a"}
    assert rows == nodes
    assert links <= nodes


def test_the_page_lists_empty_slots_that_somebody_could_use() -> None:
    assert "Empty slots" in render(agent(), "html")
    assert "Empty slots" not in render(hostile(), "html")


def test_a_default_is_told_from_an_explicit_choice() -> None:
    lines = [path["class"] or "" for path in Page(render(agent(), "svg")).classed("edge")]
    assert sum("default" in line.split() for line in lines) == 2
    assert '    m3 -.->|"default"| s0' in render(agent(), "mermaid").split("\n")
    assert "standardagent.loop (default)" in render(agent(), "tree")


def test_several_keys_of_one_module_are_one_line() -> None:
    assert '    m4 -->|"file_read, file_write, file_edit"| s7' in render(agent(), "mermaid").split(
        "\n"
    )


def test_three_hundred_modules_are_drawn() -> None:
    page = Page(render(chain_of(300), "html"))
    assert len(page.classed("module")) == 300
    assert len(page.classed("slot")) == 900
