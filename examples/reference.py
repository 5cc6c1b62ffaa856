"""The whole agent as one value: a coding agent for one folder.

Look at it, run it, or start from a copy of this file:

    agentslot describe examples.reference:application
    agentslot run examples.reference:application

The environment says where and with what it works; nothing of it is needed to build the agent.

    AGENTSLOT_BASE_URL     server that speaks OpenAI's chat completions (OpenAI itself)
    AGENTSLOT_MODEL        id of the model there (gpt-5-mini)
    AGENTSLOT_API_KEY      its key, looked up at each request; any text where the server wants none
    AGENTSLOT_WORKSPACE    folder that the agent works on (the current one)
    AGENTSLOT_SESSIONS     folder of its Sessions (.agentslot/sessions in the workspace)
    AGENTSLOT_CHANGES      folder where each change to a file is recorded before it is made, so that
                           `agentslot sessions undo FOLDER` can take it back (beside the Sessions)
"""

import os
from pathlib import Path

from agentslot import Application, Module
from agentslot.interaction import CliChannel, InProcessChannel, gateway_channel
from agentslot.model import ModelConfig, OpenAICompatibleModule
from agentslot.session import FileStoreModule
from agentslot.standardagent import (
    AgentConfig,
    ApprovalDeskModule,
    PolicyModule,
    Preset,
    new_application,
)
from agentslot.tool import BashModule, FilesModule

NAME = "reference"

_TOOLS = (
    *("file_list", "file_find", "file_search", "file_read", "file_write", "file_edit"),
    "bash",
)

PROMPT = """\
You are a coding agent. You work in the folder {workspace} and see it through your tools only.
Look before you change: list the files, run the tests, read the code that they point at. Make the
smallest change that does what was asked, in the style of what is there; never change a test to
make it pass. Then run the tests again. If the outcome of a call is unknown, find out what it did
before you go on. End with a short report: what was wrong, what you changed, how you know it works.
"""


def application() -> Application:
    """The agent as a person uses it: it asks before it writes a file or runs a command."""
    return coding_agent(
        PolicyModule(Preset.ASK_FOR_WRITES),
        ApprovalDeskModule(),
        gateway_channel("api", InProcessChannel()),
        gateway_channel("cli", CliChannel(agent=NAME, workspace=str(workspace()))),
    )


def coding_agent(*modules: Module) -> Application:
    """The agent without its policy and its channels, which `modules` give."""
    folder = workspace()
    model = os.environ.get("AGENTSLOT_MODEL") or "gpt-5-mini"
    return new_application(
        NAME,
        modules=[
            FileStoreModule(sessions()),
            OpenAICompatibleModule(
                base_url=os.environ.get("AGENTSLOT_BASE_URL") or "https://api.openai.com/v1",
                models=[model],
                api_key_env="AGENTSLOT_API_KEY",
            ),
            FilesModule(folder, changes=changes()),
            BashModule(folder, timeout_seconds=600),
            *modules,
        ],
        config=AgentConfig(
            system_prompt=PROMPT.format(workspace=folder),
            tool_keys=_TOOLS,
            max_model_attempts_per_run=100,
        ),
        default_model=ModelConfig(provider="openai", model=model),
    )


def workspace() -> Path:
    """The folder that the agent works on."""
    return Path(os.environ.get("AGENTSLOT_WORKSPACE") or ".").resolve()


def sessions() -> Path:
    """The folder of its Sessions, which one running agent owns at a time."""
    configured = os.environ.get("AGENTSLOT_SESSIONS")
    return Path(configured).resolve() if configured else workspace() / ".agentslot" / "sessions"


def changes() -> Path:
    """The folder where changes to files are recorded."""
    configured = os.environ.get("AGENTSLOT_CHANGES")
    return Path(configured).resolve() if configured else sessions().with_name("changes")
