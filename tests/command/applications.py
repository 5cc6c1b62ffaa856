"""Applications on disk that the command is pointed at."""

from pathlib import Path
from textwrap import dedent

GREETER = dedent(
    """
    from agentslot import Application, Many, Module, One

    print("imported")

    GREETING = One[str]("greeting")
    NAMES = Many[str]("name")

    application = Application(
        "greeter",
        [
            Module("greeting.english", GREETING.set_default("hello")),
            Module("names", NAMES.add("world", "World"), requires=(GREETING.required(),)),
        ],
        [GREETING.required(), NAMES.key("world")],
    )

    def factory():
        print("called")
        return application

    async def later():
        return application

    def of(name):
        return application

    def failing():
        raise ValueError("no key in the\\nenvironment")

    def unable(resolver):
        raise OSError("no such device")

    unready = Application("unready", [Module("greeting", GREETING.set_with(unable))])
    def at_a_loss(resolver):
        return {}["hello"]

    unable_twice = Application(
        "unable-twice",
        [
            Module("greeting", GREETING.set_with(unable)),
            Module("names", NAMES.add_with("world", at_a_loss)),
        ],
    )
    incomplete = Application(
        "incomplete",
        [Module("names", NAMES.add("world", "World"))],
        [GREETING.required(), NAMES.key("wold")],
    )
    wide = Application(
        "wide", [Module(f"names.{at}", NAMES.add(f"n{at}", "")) for at in range(300)]
    )
    """
)

MISTAKEN = """\
from agentslot.standardagent import AgentConfig
config = AgentConfig(tool_keys="price")
"""


def write_greeter(folder: Path) -> None:
    """A module `greeter`, and a package `parts` of modules that cannot be imported."""
    (folder / "greeter.py").write_text(GREETER, encoding="utf-8")
    parts = folder / "parts"
    parts.mkdir()
    (parts / "raising.py").write_text("value = 1\n1 / 0\n", encoding="utf-8")
    (parts / "broken.py").write_text("value = (\n", encoding="utf-8")
    (parts / "mistaken.py").write_text(MISTAKEN, encoding="utf-8")
    (parts / "needy.py").write_text("import parts.absent_of_needy.deeper\n", encoding="utf-8")
    (parts / "lonely.py").write_text("import a_library_that_is_not_here\n", encoding="utf-8")
