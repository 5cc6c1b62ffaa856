"""The text tree."""

import io
import re
import sys

import pytest
from inline_snapshot import snapshot

from agentslot import Application, Module, One
from agentslot._render import print_tree, render
from tests.render.descriptions import agent


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_tree_shows_profile_slots_and_modules() -> None:
    assert render(agent(), "tree") == snapshot("""\
assembly  9 modules, 8 slots
├── required by the profile
│   ├── agent.loop
│   ├── gateway.channel (at least 1)
│   ├── model.executor
│   └── session.store
├── slots
│   ├── agent.loop  one  agentslot.Agent.Loop
│   │   └── standardagent.loop (default)
│   ├── audit.sink  chain  agentslot.Audit.Sink
│   │   └── observe
│   ├── credential.resolver  one  agentslot.Credential.Resolver
│   │   └── credential.environment
│   ├── gateway.channel  many  agentslot.Gateway.Channel
│   │   └── cli: channel.cli
│   ├── model.executor  one  agentslot.Model.Executor
│   │   └── model.openai
│   ├── runtime  one  agentslot.Runtime
│   │   └── standardagent.runtime
│   ├── session.store  one  agentslot.Session.Store
│   │   └── session.file
│   └── tool  many  agentslot.Tool
│       ├── file_read: tool.files
│       ├── file_write: tool.files
│       ├── file_edit: tool.files
│       └── bash: tool.shell (default)
└── modules, in start order
    ├── 1 credential.environment
    │   └── fills credential.resolver
    ├── 2 model.openai
    │   ├── fills model.executor
    │   └── needs credential.resolver
    ├── 3 session.file
    │   └── fills session.store
    ├── 4 standardagent.loop
    │   └── fills agent.loop (default)
    ├── 5 tool.files
    │   └── fills tool [file_read, file_write, file_edit]
    ├── 6 tool.shell
    │   ├── fills tool [bash (default)]
    │   └── can use artifact.store (empty)
    ├── 7 observe
    │   ├── fills audit.sink
    │   └── can use audit.sink
    ├── 8 standardagent.runtime
    │   ├── fills runtime
    │   ├── needs agent.loop
    │   ├── can use audit.sink
    │   ├── can use hook.input_gate (empty)
    │   ├── needs model.executor
    │   ├── needs session.store
    │   ├── can use tool
    │   └── needs tool [bash]
    └── 9 channel.cli
        ├── fills gateway.channel [cli]
        ├── needs runtime
        └── needs session.store\
""")


def test_one_of_a_thing_is_written_so() -> None:
    assembly = Application("one", [Module("a", One[int]("b").set(1))]).build()

    assert render(assembly.describe(), "tree").startswith("assembly  1 module, 1 slot\n")


def test_colour_changes_no_character(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal = Terminal()
    print_tree(agent(), terminal)
    assert "\x1b[" in terminal.getvalue()
    assert re.sub(r"\x1b\[[\d;]*m", "", terminal.getvalue()) == render(agent(), "tree") + "\n"


def test_a_file_gets_no_colour() -> None:
    file = io.StringIO()
    print_tree(agent(), file)
    assert file.getvalue() == render(agent(), "tree") + "\n"


def test_without_rich_the_tree_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)
    terminal = Terminal()
    print_tree(agent(), terminal)
    assert terminal.getvalue() == render(agent(), "tree") + "\n"
