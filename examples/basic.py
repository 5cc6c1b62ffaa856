"""The composition core alone: three modules that do not know each other make a greeter.

Run it with `python -m examples.basic`.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import anyio

from agentslot import Application, Chain, Module, One, Registrar


class Greeter(Protocol):
    """Greets somebody."""

    def greet(self, name: str) -> str:
        """Return the greeting."""
        ...


class Style(Protocol):
    """Changes the look of a text."""

    def apply(self, text: str) -> str:
        """Return the changed text."""
        ...


# The slots are all that the modules share: each is a name, a kind and a type.
GREETING = One[str]("example.greeting")
STYLES = Chain[Style]("example.style")
GREETER = One[Greeter]("example.greeter")


class Upper:
    """A style."""

    def apply(self, text: str) -> str:
        """Return the text in capitals."""
        return text.upper()


class Framed:
    """Another style."""

    def apply(self, text: str) -> str:
        """Return the text between stars."""
        return f"* {text} *"


class StyledGreeter:
    """Greets in the styles that it is given, one after the other."""

    def __init__(self, greeting: str, styles: Sequence[Style]) -> None:
        self.greeting = greeting
        self.styles = styles

    def greet(self, name: str) -> str:
        """Return the greeting in all styles."""
        text = f"{self.greeting}, {name}"
        for style in self.styles:
            text = style.apply(text)
        return text


class GreeterModule(Module):
    """Fills one slot from two others, and lives while the application runs."""

    id = "example.greeter"
    requires = (GREETING.required(), STYLES.optional())

    def register(self, registrar: Registrar) -> None:
        """Contribute what a constructor makes of the two slots, once they are known."""
        registrar.contribute(
            GREETER.set_with(lambda resolver: StyledGreeter(resolver[GREETING], resolver[STYLES]))
        )

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Open before the body of `start`, and close after it."""
        print("open")
        yield
        print("closed")


application = Application(
    "greeter",
    [
        GreeterModule(),
        Module("example.words", GREETING.set_default("Hello")),
        Module("example.looks", STYLES.append(Upper()), STYLES.append(Framed())),
        # An explicit value wins over a default, wherever it stands in the list.
        Module("example.welsh", GREETING.set("Shwmae")),
    ],
    [GREETER.required()],
)


async def main() -> None:
    """Build, look at what was built, and run it."""
    assembly = application.build()
    print(assembly.why(GREETING))
    print("start order:", ", ".join(module.id for module in assembly.modules))
    async with application.start() as runtime:
        print(runtime.assembly[GREETER].greet("world"))


if __name__ == "__main__":
    anyio.run(main)
