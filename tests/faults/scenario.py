"""What a scenario is, and where all of them are entered."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agentslot.model.testing import Script, calls_answer
from agentslot.standardagent import AgentConfig
from tests.faults.stage import Modules, Setup, Stage, no_modules

Drive = Callable[[Stage], Awaitable[None]]


@dataclass(frozen=True)
class Scenario:
    """A story, and what the application is made of in it.

    Attributes:
        completes: whether a Run of that application ends as completed if nothing goes wrong.
    """

    name: str
    drive: Drive
    setup: Setup
    completes: bool


SCENARIOS: dict[str, Scenario] = {}


def scenario(
    modules: Modules = no_modules,
    *,
    config: AgentConfig = AgentConfig(),  # noqa: B008  # a frozen value
    completes: bool = True,
) -> Callable[[Drive], Drive]:
    """Enter the function under its name.

    Args:
        modules: makes the further modules of each process, in the world that they live in.
        config: settings; the tools are added to them.
        completes: see Scenario.
    """

    def enter(drive: Drive) -> Drive:
        name = getattr(drive, "__name__", "")
        SCENARIOS[name] = Scenario(name, drive, Setup(config, modules), completes)
        return drive

    return enter


def calling(*names: str) -> Script:
    """An answer that calls these tools."""
    return calls_answer(*((name, {"text": f"{n}"}) for n, name in enumerate(names)))
