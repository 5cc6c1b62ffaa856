"""The tables below the picture: slots, modules, and slots that nobody fills."""

from collections.abc import Iterable, Iterator, Sequence

from agentslot._description import (
    AssemblyDescription,
    ContributionDescription,
    ModuleDescription,
    RequirementDescription,
    SlotDescription,
)
from agentslot._render.text import markup


class Tables:
    """HTML tables of one description. Rows and links carry the names of nodes in the picture."""

    def __init__(self, description: AssemblyDescription) -> None:
        self._description = description
        self._modules = {module.id: f"m{at}" for at, module in enumerate(description.modules)}
        self._slots = {slot.id: f"s{at}" for at, slot in enumerate(description.slots)}
        self._users: dict[str, list[tuple[str, RequirementDescription]]] = {}
        for module in description.modules:
            for requirement in module.requires:
                self._users.setdefault(requirement.slot, []).append((module.id, requirement))
        self._gifts: dict[str, dict[str, list[ContributionDescription]]] = {}
        for slot in description.slots:
            for item in slot.contributions:
                self._gifts.setdefault(item.module, {}).setdefault(slot.id, []).append(item)

    def sections(self) -> Iterator[str]:
        """Yield every table that has rows."""
        slots, modules = self._description.slots, self._description.modules
        empty = sorted(self._users.keys() - self._slots.keys())
        yield from _table(
            "Slots", ("Slot", "Kind", "Filled by", "Used by", "Value type"), map(self._slot, slots)
        )
        yield from _table(
            "Modules, in start order",
            ("", "Module", "Fills", "Needs"),
            [self._module(order, module) for order, module in enumerate(modules, start=1)],
        )
        yield from _table(
            "Empty slots", ("Slot", "Kind", "Could be used by"), map(self._empty_slot, empty)
        )

    def _slot(self, slot: SlotDescription) -> str:
        demands = [item for item in self._description.profile if item.slot == slot.id]
        dot = '<i class="dot" title="required by the profile"></i>' if demands else ""
        users = [
            self._module_link(module) + _remarks(item)
            for module, item in self._users.get(slot.id, ())
        ]
        return _row(
            self._slots[slot.id],
            (
                f"{self._slot_link(slot.id)}{dot}",
                _kind(slot.kind),
                _list([self._contribution(item) for item in slot.contributions], slot.kind),
                _list([*(f"<em>profile</em>{_remarks(item)}" for item in demands), *users]),
                f"<code>{markup(slot.value_type)}</code>",
            ),
        )

    def _contribution(self, item: ContributionDescription) -> str:
        key = f"{_key(item.key)} " if item.key else ""
        return f"{key}{self._module_link(item.module)}{_tag('default', item.source == 'default')}"

    def _module(self, order: int, module: ModuleDescription) -> str:
        fills = [
            self._slot_link(slot)
            + "".join(f" {_key(item.key)}" for item in items if item.key)
            + _tag("default", all(item.source == "default" for item in items))
            for slot, items in self._gifts.get(module.id, {}).items()
        ]
        needs = [self._slot_link(item.slot) + _remarks(item) for item in module.requires]
        cells = (
            f"<small>{order}</small>",
            self._module_link(module.id),
            _list(fills),
            _list(needs),
        )
        return _row(self._modules[module.id], cells)

    def _empty_slot(self, slot: str) -> str:
        users = self._users[slot]
        links = _list([self._module_link(module) + _remarks(item) for module, item in users])
        return _row("", (f"<code>{markup(slot)}</code>", _kind(users[0][1].kind), links))

    def _slot_link(self, slot: str) -> str:
        return _link(self._slots.get(slot), slot) + _tag("empty", slot not in self._slots)

    def _module_link(self, module: str) -> str:
        return _link(self._modules.get(module), module)


def _table(title: str, heads: Sequence[str], rows: Iterable[str]) -> Iterator[str]:
    body = list(rows)
    if not body:
        return
    yield f"<section><h2>{title} <small>{len(body)}</small></h2>"
    yield '<div class="wide"><table><thead><tr>'
    yield "".join(f'<th scope="col">{head}</th>' for head in heads)
    yield "</tr></thead><tbody>"
    yield from body
    yield "</tbody></table></div></section>"


def _row(node: str, cells: Iterable[str]) -> str:
    data = f' data-node="{node}"' if node else ""
    return f"<tr{data}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _list(items: Sequence[str], kind: str = "") -> str:
    tag = "ol" if kind == "chain" and len(items) > 1 else "ul"
    return f"<{tag}>{''.join(f'<li>{item}</li>' for item in items)}</{tag}>" if items else ""


def _link(node: str | None, text: str) -> str:
    code = f"<code>{markup(text)}</code>"
    return f'<a href="#{node}">{code}</a>' if node else code


def _kind(kind: str) -> str:
    return f'<span class="kind {kind}">{kind}</span>'


def _key(key: str) -> str:
    return f'<span class="key">{markup(key)}</span>'


def _tag(text: str, shown: bool) -> str:
    return f' <span class="tag">{text}</span>' if shown else ""


def _remarks(item: RequirementDescription) -> str:
    key = f" {_key(item.key)}" if item.key else ""
    return (
        key
        + _tag("optional", item.optional)
        + _tag(
            f"at least {item.minimum}", item.kind != "one" and not item.optional and not item.key
        )
    )
