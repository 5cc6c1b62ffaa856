"""`agentslot sessions export`: a Session as a document that can do no harm."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import anyio
import pytest

from agentslot.session import (
    AppendToolResult,
    Delivery,
    Enqueue,
    QueueItem,
    ToolCallId,
    ToolResult,
)
from agentslot.standardagent.command import main
from tests.command.stored import commit, files, first_run, write_session
from tests.session.scenario import new_session, user

HOSTILE = (
    "</details></pre><script>alert(1)</script>\x1b[31m ```\n```html\n<b>code</b>\n```\n&lt; end"
)


def exported(
    folder: Path, capsys: pytest.CaptureFixture[str], *options: str, hostile: bool = False
) -> str:
    said = HOSTILE if hostile else "Fix it."
    output = HOSTILE if hostile else "3"
    answer = HOSTILE if hostile else "Done:\n\n```python\nx = 1 < 2\n```\n\nAll good."
    write_session(files(folder / "sessions"), said, answer, output)
    assert main(["sessions", "export", str(folder / "sessions"), *options]) == 0
    return capsys.readouterr().out


def test_markdown_quotes_what_was_said_and_folds_tool_calls(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exported(folder, capsys) == (
        "# Fix it.\n"
        "\n"
        "Session s1 of agent agent in workspace workspace, revision 7, 2026-11-30 12:00 UTC.\n"
        "\n"
        "**user** · 2 · 2026-11-30 12:00:01\n"
        "\n"
        "> Fix it.\n"
        "\n"
        "**assistant** · 5 · 2026-11-30 12:00:03\n"
        "\n"
        "> working\n"
        "\n"
        "<details><summary>add 1 — ✓ add</summary>\n"
        "\n"
        "```text\n"
        "add\n"
        "  a: 1\n"
        "```\n"
        "\n"
        "```text\n"
        "3\n"
        "```\n"
        "\n"
        "</details>\n"
        "\n"
        "**assistant** · 8 · 2026-11-30 12:00:06\n"
        "\n"
        "> Done:\n"
        ">\n"
        "> ```text\n"
        "> x = 1 < 2\n"
        "> ```\n"
        ">\n"
        "> All good.\n"
        "\n"
        "*run completed*\n"
    )


def test_nothing_that_was_said_ends_its_place_in_the_markdown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = exported(folder, capsys, hostile=True)
    assert "\x1b" not in shown
    for line in shown.splitlines():
        if "<script>" in line:
            assert not line.startswith(">")  # it stands in a block of code, which knows no tags
    code = re.findall(r"^(````+)text\n(.*?)\n\1$", shown, re.DOTALL | re.MULTILINE)
    assert any("<script>alert(1)</script>" in block for _, block in code)
    outside = re.sub(r"^(`{3,})text\n.*?\n\1$", "", shown, flags=re.DOTALL | re.MULTILINE)
    assert "<script>" not in outside
    assert outside.count("<details>") == outside.count("</details>") == 1


FAILURE = "it ended with 1\n\n# All good\n\n**user** · 9\n\nuser #9: go on"


@pytest.fixture
def failed(folder: Path) -> str:
    """A Session in which a tool failed in many lines, and as many wait in the queue."""

    async def write() -> None:
        async with files(folder / "sessions")() as store:
            state = await store.create(new_session())
            *called, _, _ = first_run("Fix it.", "Done.")
            result = ToolResult.failed(ToolCallId("c1"), "exit_status", FAILURE)
            await commit(store, state, iter([*called, [AppendToolResult(result), waits]]))

    waits = Enqueue(QueueItem(user("q1", FAILURE, run=None), Delivery.HELD))
    anyio.run(write)
    return str(folder / "sessions")


def test_a_failure_of_many_lines_is_told_on_one_and_shown_whole_in_its_place(
    failed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sessions", "export", failed]) == 0
    shown = capsys.readouterr().out
    assert f"```text\n{FAILURE}\n```" in shown
    outside = re.sub(r"^(`{3,})text\n.*?\n\1$", "", shown, flags=re.DOTALL | re.MULTILINE)
    assert [line for line in outside.splitlines() if line.startswith("#")] == ["# Fix it."]
    assert not [line for line in outside.splitlines() if line.startswith("**user** · 9")]
    assert main(["sessions", "export", failed, "--format", "html"]) == 0
    assert f"<pre>{FAILURE}</pre>" in capsys.readouterr().out


def test_a_failure_of_many_lines_does_not_pass_for_another_event(
    failed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sessions", "show", failed]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "    user #9: go on" in lines
    assert [line for line in lines if line.startswith("✗ add: exit_status: it ended with 1 #")]


class Page(HTMLParser):
    """The tags of a page, and the text outside its style."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data


def test_the_page_stands_alone_and_runs_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = exported(folder, capsys, "--format", "html", hostile=True)
    parsed = Page(page)
    assert parsed.open == []
    assert "script" not in parsed.tags
    assert "link" not in parsed.tags
    assert parsed.tags.count("details") == 1
    assert not [name for name, _ in parsed.attributes if name.startswith("on") or name == "src"]
    links = [value for name, value in parsed.attributes if name == "href"]
    assert all(link is not None and link.startswith("#fact-") for link in links)
    assert "default-src 'none'" in page
    assert "url(" not in page
    assert "<script>alert(1)</script>" in parsed.text
    assert "prefers-color-scheme: dark" in page


def test_the_page_shows_who_said_what_and_what_it_took(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = exported(folder, capsys, "--format", "html")
    parsed = Page(page)
    assert "<title>Fix it.</title>" in page
    assert '<article class="user" id="fact-2">' in page
    assert '<details class="call succeeded" id="fact-6"><summary>add 1</summary>' in page
    assert "<pre>x = 1 &lt; 2</pre>" in page
    assert "<dt>tokens</dt><dd>7</dd>" in page
    assert "All good." in parsed.text


def test_json_is_everything_in_one_object(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(exported(folder, capsys, "--format", "json"))
    assert document["format"] == "agentslot.session-export/v1"
    assert (document["session_id"], document["revision"]) == ("s1", 7)
    assert [fact["sequence"] for fact in document["history"]] == list(range(1, 10))
    assert document["history"][5]["payload"]["arguments"] == '{"a":1}'


@pytest.mark.parametrize(
    ("name", "beginning"), [("a.md", "# Fix"), ("a.html", "<!doctype html>"), ("a.json", "{")]
)
def test_the_name_of_the_file_says_what_to_write(
    name: str, beginning: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exported(folder, capsys, "--output", name) == ""
    assert (folder / name).read_text(encoding="utf-8").startswith(beginning)


def test_a_file_that_cannot_be_written_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_session(files(folder / "sessions"), "Fix it.", "Done.")
    assert main(["sessions", "export", "sessions", "--output", "gone/a.md"]) == 1
    assert "cannot write 'gone/a.md'" in capsys.readouterr().err


def test_a_name_that_says_no_format_is_wrong_usage(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "fix.pdf"
    assert main(["sessions", "export", str(folder), "--output", str(path)]) == 2
    assert "'.pdf' says no format" in capsys.readouterr().err
    assert not path.exists()

    exported(folder, capsys, "--output", str(path), "--format", "json")
    assert json.loads(path.read_text(encoding="utf-8"))["session_id"] == "s1"
