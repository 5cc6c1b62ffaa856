"""Rules about calls, what they say without a call, and the guard against loops."""

import json
from pathlib import Path, PurePath
from typing import Any

import pytest

from agentslot import Application, Module
from agentslot.session import (
    AgentId,
    MemoryArtifactsModule,
    MemoryStore,
    MessageId,
    RunId,
    SessionId,
    StepId,
    ToolCall,
    ToolCallId,
    ToolResult,
    WorkspaceId,
)
from agentslot.standardagent import (
    Decision,
    LoopGuard,
    LoopGuardModule,
    PolicyEffect,
    PolicyModule,
    Preset,
    Rule,
    Rulebook,
    ToolAction,
    ToolRules,
    explain_call,
)
from agentslot.tool import Attachment, Effect, ToolsModule, function_tool
from tests.standardagent.agents import agent, answer, call, calls

ALLOW, DENY, ASK = PolicyEffect.ALLOW, PolicyEffect.DENY, PolicyEffect.REQUIRE_APPROVAL
NO = Decision(DENY, "nothing else")
YES = Decision(ALLOW)


def may(**conditions: Any) -> Rule:
    return Rule(then=ALLOW, **conditions)


def action(
    name: str, effect: Effect = Effect.WRITE, text: str = "", **arguments: Any
) -> ToolAction:
    made = ToolCall(
        ToolCallId("c"), "p", MessageId("m"), RunId("r"), StepId("s"), name,
        text or json.dumps(arguments),
    )  # fmt: skip
    return ToolAction(made, effect, SessionId("s"), AgentId("a"), WorkspaceId("w"))


def decided(rules: list[Rule], asked: ToolAction, fallback: Decision = NO, **options: Any) -> str:
    return str(Rulebook(rules, fallback=fallback, **options).explain(asked).decision.effect)


@pytest.mark.parametrize(
    ("rule", "asked", "fits"),
    [
        (Rule(then=ALLOW), action("any"), True),
        (may(tools=["file_*"]), action("file_read"), True),
        (may(tools=["file_*", "bash"]), action("bash"), True),
        (may(tools=["file_*"]), action("my_file_read"), False),
        (may(tools=["file.read"]), action("file_read"), False),
        (may(effects=[Effect.READ]), action("x", Effect.READ), True),
        (may(effects=[Effect.READ]), action("x", Effect.WRITE), False),
        (may(arguments={"command": "git (log|diff)"}), action("bash", command="git diff"), True),
        (may(arguments={"command": "git"}), action("bash", command="git push"), False),
        (may(arguments={"n": "[0-9]"}), action("x", n=5), True),
        (may(arguments={"n": ".*"}), action("x"), False),
        (may(paths=["src/**"]), action("w", path="src/a/b.py"), True),
        (may(paths=["src/**"]), action("w", path="./src//a/../b.py"), True),
        (may(paths=["src/**"]), action("w", path="SRC/b.py"), False),
        (may(paths=["src/**"]), action("w", path="src/../secret"), False),
        (may(paths=["src/**"]), action("w", path="../src/a"), False),
        (may(paths=["**"]), action("w", path="/etc/passwd"), False),
        (may(paths=["*.md"]), action("w", path="docs/a.md"), True),
        (may(paths=["src/**"]), action("w", path="/srv/project/src/a"), True),
        (may(paths=["src/**"]), action("w", path="file:///srv/project/src/a"), True),
        (may(paths=["src/**"]), action("w", path="/srv/project-evil/src/a"), False),
        (may(paths=["src/**"]), action("w"), False),
        (may(hosts=["api.example.com"]), action("f", url="https://API.example.com."), True),
        (may(hosts=["*.example.com"]), action("f", url="https://a.example.com"), True),
        (may(hosts=["*.example.com"]), action("f", url="https://example.com"), False),
        (may(hosts=["example.com"]), action("f", url="https://example.com@evil.com"), False),
        (may(hosts=["example.com"]), action("f", url="https://[::1"), False),
        (may(tools=["w"], paths=["a"]), action("w", path="b"), False),
    ],
)  # fmt: skip
def test_a_rule_fits_if_each_of_its_conditions_does(
    rule: Rule, asked: ToolAction, fits: bool
) -> None:
    assert decided([rule], asked, root="/srv/project") == ("allow" if fits else "deny")


@pytest.mark.parametrize(
    "path",
    [
        "secrets/key", "./secrets/key", "a/../secrets/key", "/srv/project/secrets/key",
        "file:///srv/project/secrets/key", "/elsewhere/secrets/key", "../x",
    ],
)  # fmt: skip
def test_a_denied_place_is_denied_in_every_spelling(path: str) -> None:
    rules = [Rule(then=DENY, reason="secret", paths=["secrets/**"]), Rule(then=ALLOW)]
    assert decided(rules, action("w", path=path), root="/srv/project") == "deny"
    assert decided(rules, action("w", path="src/a"), root="/srv/project") == "allow"


def test_without_a_root_an_absolute_path_is_on_the_safe_side() -> None:
    rules = [Rule(then=DENY, reason="secret", paths=["secrets/**"]), Rule(then=ALLOW)]
    assert decided(rules, action("w", path="/srv/project/secrets/key")) == "deny"


def any_case(_: Path) -> bool:
    """A disk that takes upper and lower case for each other."""
    return False


def exact(_: Path) -> bool:
    return True


NO_SECRETS = Rule(then=DENY, reason="secret", paths=["secrets/**", "*.Env", "[A-M]*.key"])


@pytest.mark.parametrize(
    "path",
    ["SECRETS/key", "Secrets/key", "a/../sEcReTs/key", "/srv/project/SECRETS/key", "A.ENV", "b.KEY",
     "\u017fecrets/key", "secretſ/key"],
)  # fmt: skip
def test_a_denied_place_is_denied_in_any_case_where_the_disk_takes_them_for_each_other(
    path: str,
) -> None:
    asked, rules = action("w", path=path), [NO_SECRETS, Rule(then=ALLOW)]
    for disk, expected in ((any_case, "deny"), (exact, "allow")):
        assert decided(rules, asked, root="/srv/project", case_matters=disk) == expected


def test_characters_that_are_composed_otherwise_are_the_same_on_such_a_disk() -> None:
    rules = [Rule(then=DENY, reason="secret", paths=["caf\u00e9/**"]), Rule(then=ALLOW)]
    asked = action("w", path="CAFE\u0301/key")
    assert decided(rules, asked, case_matters=any_case) == "deny"


def test_what_is_allowed_is_compared_as_the_disk_does_it_too() -> None:
    rules = [may(paths=["src/**"])]
    assert decided(rules, action("w", path="SRC/a"), case_matters=any_case) == "allow"
    assert decided(rules, action("w", path="SRC/a"), case_matters=exact) == "deny"


def test_absolute_paths_below_any_of_several_roots_are_understood() -> None:
    rules, roots = [NO_SECRETS, may(paths=["src/**"])], ["/srv/one", PurePath("/srv/two")]
    for folder in ("/srv/one", "/srv/two"):
        assert decided(rules, action("w", path=f"{folder}/src/a"), root=roots) == "allow"
        assert decided(rules, action("w", path=f"{folder}/secrets/a"), root=roots) == "deny"
    assert decided(rules, action("w", path="/srv/three/src/a"), root=roots) == "deny"


def test_of_a_path_in_two_roots_the_stricter_reading_counts() -> None:
    rules, roots = [NO_SECRETS, may(paths=["src/**"])], ["/srv/one", "/srv/one/src"]
    assert decided(rules, action("w", path="/srv/one/src/secrets/a"), root=roots) == "deny"
    assert decided(rules, action("w", path="/srv/one/src/a"), root=roots) == "deny"
    assert decided(rules, action("w", path="/srv/one/src/src/a"), root=roots) == "allow"


def test_each_workspace_has_its_own_root() -> None:
    rules = [NO_SECRETS, may(paths=["src/**"])]
    roots = {("a", "w"): "/srv/mine", ("a", "other"): "/srv/theirs"}
    expected = {
        "src/a": "allow", "/srv/mine/src/a": "allow", "/srv/mine/secrets/a": "deny",
        "/srv/theirs/src/a": "deny",
    }  # fmt: skip
    for path, told in expected.items():
        assert decided(rules, action("w", path=path), root=roots) == told
    elsewhere = {("a", "other"): "/srv/theirs"}
    assert decided(rules, action("w", path="src/a"), root=elsewhere) == "deny"


def test_a_root_is_known_under_the_name_that_its_links_lead_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    rules = [may(paths=["src/**"])]
    for folder in ("real", "link"):
        asked = action("w", path=f"{tmp_path}/{folder}/src/a")
        assert decided(rules, asked, root=tmp_path / "link") == "allow"


def test_arguments_are_read_as_the_tool_will_read_them() -> None:
    rules = [Rule(then=DENY, reason="secret", paths=["secrets/**"]), Rule(then=ALLOW)]
    wrapped = json.dumps(json.dumps({"path": "secrets/key"}))
    assert decided(rules, action("w", text=wrapped)) == "deny"


def test_the_first_rule_that_fits_decides_and_says_which_it_is() -> None:
    book = Rulebook(
        [
            Rule(then=ALLOW, effects=[Effect.PURE, Effect.READ]),
            Rule(then=ASK, reason="it writes to src", paths=["src/**"]),
        ],
        fallback=NO,
    )
    said = book.explain(action("w", path="src/a"))
    assert (said.decision.effect, said.because) == (ASK, "rule 2 of 2")
    assert book.explain(action("w", path="b")).because == "no rule fits"


def test_a_rule_that_does_not_allow_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        Rule(then=DENY)


@function_tool(effect=Effect.WRITE)
async def write(path: str) -> str:
    """Write a file."""
    raise AssertionError("a dry run runs nothing")


class Failing:
    async def evaluate(self, action: ToolAction) -> Decision:
        raise ZeroDivisionError


def application(*modules: Module) -> Application:
    return Application("policy", [ToolsModule(write), *modules])


async def test_a_dry_run_says_what_would_happen_and_by_which_rule() -> None:
    book = Rulebook([Rule(then=DENY, reason="no secrets", paths=["*.env"])], fallback=YES)
    assembly = application(PolicyModule(book)).build()
    denied = await explain_call(assembly, "write", {"path": "a.env"})
    assert str(denied) == "write: deny\n  Rulebook (rule 1 of 1): deny: no secrets"
    assert (await explain_call(assembly, "write", {"path": "a.py"})).effect is ALLOW


async def test_a_dry_run_says_when_only_the_disk_makes_a_rule_fit() -> None:
    book = Rulebook([NO_SECRETS], fallback=YES, root="/srv/a", case_matters=any_case)
    assembly = application(PolicyModule(book)).build()
    loosely = "deny\n  Rulebook (rule 1 of 1; the disk takes upper and lower case for each other): "
    assert loosely in str(await explain_call(assembly, "write", {"path": "SECRETS/a"}))
    assert "(rule 1 of 1): deny" in str(await explain_call(assembly, "write", {"path": "x.Env"}))


async def test_a_call_that_only_the_disk_takes_for_a_denied_one_is_not_run() -> None:
    book = Rulebook([NO_SECRETS], fallback=YES, case_matters=any_case)
    script = [calls(call("write", path="Secrets/key")), answer("I may not")]
    async with agent(script, tools=[write], modules=[PolicyModule(book)]) as session:
        await session.send_and_wait("go")
        last = session.executor.requests[-1].inputs[-1]
    assert isinstance(last, ToolResult)
    assert last.error is not None
    assert last.error.code == "policy_denied"


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        (
            Preset.READ_ONLY,
            "EffectPolicy (preset read_only): deny: write has the effect",
        ),
        (Preset.ASK_FOR_WRITES, "EffectPolicy (preset ask_for_writes): require_approval: write"),
        (Preset.TRUSTED, "EffectPolicy (preset trusted): allow"),
        (ToolRules({"write": NO}, fallback=YES), "ToolRules (rule for write): deny: nothing else"),
        (Failing(), "Failing (error): deny: the guard failed with ZeroDivisionError"),
    ],
)
async def test_every_guard_explains_itself(guard: Any, expected: str) -> None:
    said = await explain_call(application(PolicyModule(guard)).build(), "write", {"path": "a"})
    assert expected in str(said)


async def test_without_a_policy_everything_is_allowed() -> None:
    assert str(await explain_call(application().build(), "write", {})) == "write: allow"


async def looped(repeats: int, results: list[str], paths: list[str]) -> list[str | None]:
    """The error codes that a model met which calls with these paths, one after the other."""
    given = iter(results)

    @function_tool(effect=Effect.READ)
    async def read(path: str) -> str:
        """Read a file."""
        return next(given)

    script = [*(calls(call("read", path=path)) for path in paths), answer("done")]
    modules = [LoopGuardModule(repeats)]
    async with agent(script, tools=[read], modules=modules) as session:
        await session.send_and_wait("go")
        last = session.executor.requests[-1].inputs
    found = [one for one in last if isinstance(one, ToolResult)]
    return [None if one.error is None else one.error.code for one in found]


async def test_the_same_call_with_the_same_result_is_interrupted() -> None:
    codes = await looped(3, ["same"] * 9, ["a"] * 6)
    assert codes == [None, None, None, "policy_denied", "policy_denied", "policy_denied"]


async def test_another_call_or_another_result_is_no_loop() -> None:
    assert await looped(2, ["same"] * 9, ["a", "b", "a", "b", "a"]) == [None] * 5
    assert await looped(2, ["1", "2", "3", "4"], ["a"] * 4) == [None] * 4


async def test_after_something_else_the_call_may_be_made_again() -> None:
    codes = await looped(2, ["same"] * 9, ["a", "a", "a", "b", "a"])
    assert codes == [None, None, "policy_denied", None, None]


def test_a_loop_guard_needs_at_least_one_repetition() -> None:
    with pytest.raises(ValueError, match="repeats must be 1 or more"):
        LoopGuard(MemoryStore(), repeats=0)


async def test_what_a_tool_attaches_is_kept_by_the_agents_store(tmp_path: Path) -> None:
    @function_tool
    async def report() -> Attachment:
        """Write a report."""
        return Attachment(b"%PDF-", "application/pdf", "report.pdf")

    script = [calls(call("report")), answer("done")]
    async with agent(script, tools=[report], modules=[MemoryArtifactsModule()]) as session:
        await session.send_and_wait("go")
        last = session.executor.requests[-1].inputs[-1]
    assert isinstance(last, ToolResult)
    assert [made.name for made in last.artifacts] == ["report.pdf"]
