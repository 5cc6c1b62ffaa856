"""Goal stores and the model evaluator as modules of an application."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from agentslot import Module, Registrar
from agentslot.model import MODEL_EXECUTOR
from agentslot.standardagent.goal.contract import GOAL_EVALUATOR, GOAL_STORE
from agentslot.standardagent.goal.evaluator import ModelGoalEvaluator
from agentslot.standardagent.goal.file import FileGoals
from agentslot.standardagent.goal.memory import MemoryGoals


class MemoryGoalsModule(Module):
    """Keeps goals in memory: gone when the process ends."""

    id = "goal.memory"

    def __init__(self, *, default: bool = False) -> None:
        """Fill `goal.store`; as a `default` it gives way to any other store."""
        if default:
            super().__init__("goal.default-memory")
        self.goals = MemoryGoals()
        self._default = default

    def register(self, registrar: Registrar) -> None:
        """Fill `goal.store`."""
        fill = GOAL_STORE.set_default if self._default else GOAL_STORE.set
        registrar.contribute(fill(self.goals))


class FileGoalsModule(Module):
    """Keeps goals as files in a folder, which one running application owns at a time.

    Args:
        directory: where the files lie, apart from those of the Sessions; made when the application
            starts.
    """

    id = "goal.file"

    def __init__(self, directory: str | Path) -> None:
        self.goals = FileGoals(directory)

    def register(self, registrar: Registrar) -> None:
        """Fill `goal.store`."""
        registrar.contribute(GOAL_STORE.set(self.goals))

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Own the folder while the application runs.

        Raises:
            ClassifiedError: `unavailable/sessions_in_use`, naming the process that has it.
        """
        async with self.goals:
            yield


class ModelGoalEvaluatorModule(Module):
    """Lets the Run's own model judge whether a goal is met."""

    def __init__(self, module_id: str = "goal.model-evaluator") -> None:
        super().__init__(module_id)
        self.requires = (MODEL_EXECUTOR.required(),)

    def register(self, registrar: Registrar) -> None:
        """Fill `goal.evaluator`."""
        registrar.contribute(
            GOAL_EVALUATOR.set_with(lambda resolver: ModelGoalEvaluator(resolver[MODEL_EXECUTOR]))
        )
