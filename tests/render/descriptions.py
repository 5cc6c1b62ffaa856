"""Descriptions to draw: one that resembles a standard agent, one that is large, and any at all."""

from hypothesis import strategies as st

from agentslot._description import (
    AssemblyDescription,
    ContributionDescription,
    ModuleDescription,
    RequirementDescription,
    SlotDescription,
    SlotKind,
    Source,
)


def contribution(
    module: str, source: Source = "explicit", key: str | None = None
) -> ContributionDescription:
    return ContributionDescription(module=module, key=key, source=source)


def slot(name: str, kind: SlotKind, *contributions: ContributionDescription) -> SlotDescription:
    return SlotDescription(
        id=name, kind=kind, value_type=f"agentslot.{name.title()}", contributions=contributions
    )


def need(slot: str, kind: SlotKind, key: str | None = None) -> RequirementDescription:
    return RequirementDescription(slot=slot, kind=kind, key=key, minimum=1)


def may_use(slot: str, kind: SlotKind) -> RequirementDescription:
    return RequirementDescription(slot=slot, kind=kind, minimum=0, optional=True)


def module(name: str, *requires: RequirementDescription) -> ModuleDescription:
    return ModuleDescription(id=name, requires=requires)


def agent() -> AssemblyDescription:
    """A small agent: every kind, source and requirement, one need of itself, one empty slot."""
    tools = [contribution("tool.files", key=f"file_{verb}") for verb in ("read", "write", "edit")]
    return AssemblyDescription(
        modules=(
            module("credential.environment"),
            module("model.openai", need("credential.resolver", "one")),
            module("session.file"),
            module("standardagent.loop"),
            module("tool.files"),
            module("tool.shell", may_use("artifact.store", "one")),
            module("observe", may_use("audit.sink", "chain")),
            module(
                "standardagent.runtime",
                need("agent.loop", "one"),
                may_use("audit.sink", "chain"),
                may_use("hook.input_gate", "chain"),
                need("model.executor", "one"),
                need("session.store", "one"),
                may_use("tool", "many"),
                need("tool", "many", "bash"),
            ),
            module("channel.cli", need("runtime", "one"), need("session.store", "one")),
        ),
        slots=(
            slot("agent.loop", "one", contribution("standardagent.loop", "default")),
            slot("audit.sink", "chain", contribution("observe")),
            slot("credential.resolver", "one", contribution("credential.environment")),
            slot("gateway.channel", "many", contribution("channel.cli", key="cli")),
            slot("model.executor", "one", contribution("model.openai")),
            slot("runtime", "one", contribution("standardagent.runtime")),
            slot("session.store", "one", contribution("session.file")),
            slot("tool", "many", *tools, contribution("tool.shell", "default", key="bash")),
        ),
        profile=(
            need("agent.loop", "one"),
            need("gateway.channel", "many"),
            need("model.executor", "one"),
            need("session.store", "one"),
        ),
    )


def chain_of(length: int) -> AssemblyDescription:
    """`length` modules with three slots each, that need slots of the three modules before them."""
    return AssemblyDescription(
        modules=tuple(
            module(
                f"module.{at:03}",
                *(need(f"slot.{at - back:03}.{back}", "one") for back in (1, 2, 3) if at >= back),
            )
            for at in range(length)
        ),
        slots=tuple(
            slot(f"slot.{at:03}.{part}", "one", contribution(f"module.{at:03}"))
            for at in range(length)
            for part in (1, 2, 3)
        ),
    )


HOSTILE = (
    *("<script>alert(1)</script>", '"]:::x', "]]>", "&amp;", "end", "`x`", "%%{init}%%"),
    *("a\x00b", "\u202e", "\ufffe", "a\nb", "style x:#a;"),
)
ids = st.text(min_size=1, max_size=60) | st.sampled_from(HOSTILE)


@st.composite
def requirements(draw: st.DrawFn, kinds: dict[str, SlotKind]) -> tuple[RequirementDescription, ...]:
    return tuple(
        RequirementDescription(
            slot=name,
            kind=kinds.get(name, "one"),
            key=draw(st.none() | ids) if kinds.get(name) == "many" else None,
            minimum=draw(st.integers(0, 3)),
            optional=draw(st.booleans()),
        )
        for name in draw(st.lists(st.sampled_from(sorted(kinds)) if kinds else ids, max_size=3))
    )


@st.composite
def descriptions(draw: st.DrawFn) -> AssemblyDescription:
    """Well-formed descriptions with any ids, keys and type names; needs may run in circles."""
    modules = draw(st.lists(ids, unique=True, min_size=1, max_size=6))
    every_kind: st.SearchStrategy[SlotKind] = st.sampled_from(("one", "many", "chain"))
    every_source: st.SearchStrategy[Source] = st.sampled_from(("explicit", "default"))
    kinds = draw(st.dictionaries(ids, every_kind, max_size=6))

    def contributions(kind: SlotKind) -> tuple[ContributionDescription, ...]:
        count = 1 if kind == "one" else draw(st.integers(1, 3))
        return tuple(
            contribution(
                draw(st.sampled_from(modules)),
                draw(every_source),
                draw(ids) if kind == "many" else None,
            )
            for _ in range(count)
        )

    return AssemblyDescription(
        modules=tuple(
            ModuleDescription(id=name, requires=draw(requirements(kinds))) for name in modules
        ),
        slots=tuple(
            SlotDescription(
                id=name, kind=kind, value_type=draw(ids), contributions=contributions(kind)
            )
            for name, kind in sorted(kinds.items())
        ),
        profile=draw(requirements(kinds)),
    )
