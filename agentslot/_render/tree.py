"""The description as an indented text tree; rich adds colour where it is installed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TextIO

from agentslot._description import (
    AssemblyDescription,
    ContributionDescription,
    ModuleDescription,
    RequirementDescription,
    SlotDescription,
)
from agentslot._render.text import visible
from agentslot._text import counted

_KIND_STYLE = {"one": "blue", "many": "green", "chain": "magenta"}


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line; `style` is a rich style and never changes the text."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Branch:
    """One line of the tree and what hangs below it."""

    label: tuple[Span, ...]
    children: tuple["Branch", ...] = ()


def render_tree(description: AssemblyDescription) -> str:
    """Draw the tree as plain text."""
    return "\n".join("".join(span.text for span in line) for line in _lines(_root(description)))


def print_tree(description: AssemblyDescription, file: TextIO) -> None:
    """Print the tree, in colour when rich is installed and `file` is a terminal that shows it."""
    if find_spec("rich") is None:
        print(render_tree(description), file=file)
        return
    # rich is an extra, and only a terminal needs it.
    from rich.console import Console
    from rich.text import Text

    console = Console(file=file, highlight=False, soft_wrap=True)
    for line in _lines(_root(description)):
        console.print(Text.assemble(*((span.text, span.style) for span in line)))


def _lines(root: Branch) -> Iterator[tuple[Span, ...]]:
    yield root.label
    yield from _below(root, "")


def _below(branch: Branch, stem: str) -> Iterator[tuple[Span, ...]]:
    for position, child in enumerate(branch.children, start=1):
        last = position == len(branch.children)
        yield (Span(stem + ("└── " if last else "├── "), "dim"), *child.label)
        yield from _below(child, stem + ("    " if last else "│   "))


def _root(description: AssemblyDescription) -> Branch:
    filled = {slot.id for slot in description.slots}
    gifts = _gifts(description.slots)
    profile = tuple(Branch(_requirement(item, filled)) for item in description.profile)
    modules = tuple(
        _module(order, module, gifts.get(module.id, ()), filled)
        for order, module in enumerate(description.modules, start=1)
    )
    sections = (
        Branch((Span("required by the profile", "italic"),), profile),
        Branch((Span("slots", "italic"),), tuple(map(_slot, description.slots))),
        Branch((Span("modules, in start order", "italic"),), modules),
    )
    counts = (
        f"{counted(len(description.modules), 'module')}, {counted(len(description.slots), 'slot')}"
    )
    title = (Span("assembly", "bold"), Span(f"  {counts}", "dim"))
    return Branch(title, tuple(section for section in sections if section.children))


def _gifts(slots: Iterable[SlotDescription]) -> dict[str, list[tuple[SlotDescription, str]]]:
    """For each module id the slots that it fills, with the keys and sources in one remark."""
    found: dict[str, dict[str, list[ContributionDescription]]] = {}
    by_id = {slot.id: slot for slot in slots}
    for slot in by_id.values():
        for contribution in slot.contributions:
            found.setdefault(contribution.module, {}).setdefault(slot.id, []).append(contribution)
    return {
        module: [(by_id[slot], _remark(items)) for slot, items in given.items()]
        for module, given in found.items()
    }


def _remark(contributions: Sequence[ContributionDescription]) -> str:
    """Keys in brackets and what is a default, for example ` [grep, glob (default)]`."""
    parts = [
        visible(item.key or "") + (" (default)" if item.source == "default" else "")
        for item in contributions
    ]
    if any(item.key for item in contributions):
        return f" [{', '.join(parts)}]"
    return next(filter(None, parts), "")


def _slot(slot: SlotDescription) -> Branch:
    style = _KIND_STYLE[slot.kind]
    label = (
        Span(visible(slot.id), "bold"),
        Span(f"  {slot.kind}", style),
        Span(f"  {visible(slot.value_type)}", "dim"),
    )
    return Branch(label, tuple(map(_contribution, slot.contributions)))


def _contribution(contribution: ContributionDescription) -> Branch:
    key = (Span(f"{visible(contribution.key)}: "),) if contribution.key else ()
    default = (Span(" (default)", "yellow"),) if contribution.source == "default" else ()
    return Branch((*key, Span(visible(contribution.module), "cyan"), *default))


def _module(
    order: int,
    module: ModuleDescription,
    gifts: Iterable[tuple[SlotDescription, str]],
    filled: set[str],
) -> Branch:
    label = (Span(f"{order} ", "dim"), Span(visible(module.id), "bold cyan"))
    fills = (
        Branch(
            (Span("fills ", "dim"), Span(visible(slot.id), _KIND_STYLE[slot.kind]), Span(remark))
        )
        for slot, remark in gifts
    )
    needs = (
        Branch(
            (Span("can use " if item.optional else "needs ", "dim"), *_requirement(item, filled))
        )
        for item in module.requires
    )
    return Branch(label, (*fills, *needs))


def _requirement(requirement: RequirementDescription, filled: set[str]) -> tuple[Span, ...]:
    label = [Span(visible(requirement.slot), _KIND_STYLE[requirement.kind])]
    if requirement.key:
        label.append(Span(f" [{visible(requirement.key)}]"))
    elif requirement.minimum and requirement.kind != "one":
        label.append(Span(f" (at least {requirement.minimum})"))
    if requirement.slot not in filled:
        label.append(Span(" (empty)", "yellow"))
    return tuple(label)
