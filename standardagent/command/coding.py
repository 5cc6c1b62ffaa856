"""The coding agent that `agentslot chat` talks to when it is given no other."""

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from agentslot import Application, Module
from agentslot.interaction import InProcessChannel, ModelCommandModule, gateway_channel
from agentslot.model import OpenAICompatibleModule
from agentslot.session import FileArtifactsModule, FileStoreModule, ModelConfig
from agentslot.standardagent.application import new_application
from agentslot.standardagent.command.failure import UsageError
from agentslot.standardagent.command.places import (
    artifacts_folder_of,
    changes_folder_of,
    goals_folder_of,
    sessions_folder_of,
)
from agentslot.standardagent.config import AgentConfig
from agentslot.standardagent.goal import FileGoalsModule, ModelGoalEvaluatorModule
from agentslot.standardagent.policy import ApprovalDeskModule, PolicyModule, Preset
from agentslot.tool import BashModule, FilesModule, SessionHistoryModule

CODING_AGENT = "coder"

_DEFAULT_BASE_URL = "https://api.openai.com/v1"
_KEY = "AGENTSLOT_API_KEY"
_TOOLS = ("file_read", "file_write", "file_edit", "bash", "session_history")
_PROMPT = """\
You are a coding agent. You work in the folder {folder} and see it through your tools only.
Look before you change: read the code and run the tests first. Make the smallest change that does
what was asked, in the style of what is there, then run the tests again. If something cannot be
done, or a tool was denied, say so. End with a short report of what you changed and how you know
that it works.
"""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model, and the module that reaches its server."""

    config: ModelConfig
    server: Module


def choose_model(model: str | None, base_url: str | None) -> ModelChoice:
    """What the options say, else the environment.

    Raises:
        UsageError: no model is named, the address of its server is none, or the key is missing. A
            server on this machine needs none.
    """
    model = model or os.environ.get("AGENTSLOT_MODEL", "").strip()
    base_url = base_url or os.environ.get("AGENTSLOT_BASE_URL", "").strip() or _DEFAULT_BASE_URL
    has_key = bool(os.environ.get(_KEY, "").strip())
    missing: list[str] = []
    if not model:
        missing.append("AGENTSLOT_MODEL is not set: name a model there, or with --model")
    if not has_key and not _is_local(base_url):
        missing.append(f"{_KEY} is not set: put the key for {base_url} into it")
    if missing:
        raise UsageError(f"{'; '.join(missing)}; or use --local, a model on this machine")
    try:
        server = OpenAICompatibleModule(
            base_url=base_url, api_key_env=_KEY if has_key else None, models=[model]
        )
    except ValueError as error:
        raise UsageError(f"{error}; it comes from --base-url or AGENTSLOT_BASE_URL") from error
    return ModelChoice(ModelConfig(provider="openai", model=model), server)


def coding_agent(folder: Path, choice: ModelChoice, *more: Module) -> Application:
    """An agent that reads, edits and runs what is in a folder, and asks before it changes it."""
    if not folder.is_dir():
        raise UsageError(f"there is no folder {str(folder)!r} to work in")
    return new_application(
        CODING_AGENT,
        modules=[
            FileStoreModule(sessions_folder_of(folder)),
            choice.server,
            FileArtifactsModule(artifacts_folder_of(folder)),
            FilesModule(folder, changes=changes_folder_of(folder)),
            BashModule(folder),
            SessionHistoryModule(),
            PolicyModule(Preset.ASK_FOR_WRITES),
            ApprovalDeskModule(),
            FileGoalsModule(goals_folder_of(folder)),
            ModelGoalEvaluatorModule(),
            ModelCommandModule(),
            gateway_channel("api", InProcessChannel()),
            *more,
        ],
        config=AgentConfig(
            system_prompt=_PROMPT.format(folder=folder),
            tool_keys=_TOOLS,
        ),
        default_model=choice.config,
    )


def _is_local(base_url: str) -> bool:
    return urlsplit(base_url).hostname in ("localhost", "127.0.0.1", "::1")
