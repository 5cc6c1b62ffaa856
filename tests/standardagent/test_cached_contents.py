"""Heads of requests that a server of Gemini models keeps under a name, through a whole agent."""

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from agentslot._http import stream_response
from agentslot.interaction import InProcessChannel, gateway_channel
from agentslot.model import (
    MODEL_EXECUTOR,
    ExplicitCaching,
    GoogleModule,
    ModelConfig,
    RetryPolicy,
    VertexProject,
)
from agentslot.model.testing import MemoryRecorder
from agentslot.session import MemoryStoreModule, Role
from agentslot.standardagent import AgentConfig, new_application
from agentslot.tool import ToolsModule, function_tool
from tests import steppedclock
from tests.loopback import Answer, Request, loopback
from tests.model.support import application, collect, message, request
from tests.model.test_google_decoder import chunk, sse
from tests.steppedclock import skip

if TYPE_CHECKING:
    from agentslot._http import HttpRequest, HttpResponse

anyio_backend = steppedclock.anyio_backend

CONFIG = ModelConfig("google", "gemini-3.8-flash")
PROMPT = "Answer as the rules of the house demand. " * 100
CACHING = ExplicitCaching(min_tokens=1_000)
HOUR = 3_600.0
MINUTES_5 = 300.0
CLOSING = 6.0
KEY = "AIza-not-a-real-key"


@function_tool
async def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


def refusal(status: int, message: str) -> Answer:
    error = {"code": status, "status": "PERMISSION_DENIED", "message": message}
    return Answer(json.dumps({"error": error}).encode(), status, "application/json")


@dataclass
class Vendor:
    """A server that keeps contents, and answers whoever names one; also as a transport to it.

    Attributes:
        created: the requests that had something kept.
        asked: the bodies of all questions, with their paths in `paths`.
        deleted: the paths of what was deleted.
        refuses: what it answers to requests to keep something; None keeps it.
        failing: what it answers to questions that name something; None answers them.
        unwilling: what it answers to the next questions that name nothing.
        hold: what keeping, or deleting, waits for; `deleting` is set when it comes to that.
        prefix: what stands before the names that it gives.
    """

    created: list[Request] = field(default_factory=list[Request])
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    paths: list[str] = field(default_factory=list[str])
    deleted: list[str] = field(default_factory=list[str])
    refuses: Answer | None = None
    failing: Answer | None = None
    unwilling: list[Answer] = field(default_factory=list[Answer])
    hold: anyio.Event | None = None
    deleting: anyio.Event = field(default_factory=anyio.Event)
    prefix: str = ""

    def __call__(self, request: Request) -> Answer:
        if request.method == "DELETE":
            self.deleted.append(request.path)
            self.deleting.set()
            return Answer(b"{}", content_type="application/json")
        if request.path.endswith("/cachedContents"):
            return self._keep(request)
        body = request.json()
        self.asked.append(body)
        self.paths.append(request.path)
        named = body.get("cachedContent")
        if named and self.failing is not None:
            return self._refuse(self.failing)
        if not named and self.unwilling:
            return self.unwilling.pop(0)
        if named and body.keys() & {"systemInstruction", "tools", "toolConfig"}:
            return refusal(400, "CachedContent can not be used with these")
        usage = {
            "promptTokenCount": 1_200,
            "cachedContentTokenCount": 1_100 if named else 0,
            "candidatesTokenCount": 1,
            "totalTokenCount": 1_201,
        }
        return Answer(sse(chunk("hi", finish="STOP", usageMetadata=usage)))

    def _refuse(self, answer: Answer) -> Answer:
        """Whatever is being kept is kept before the question comes again."""
        if self.hold is not None:
            self.hold.set()
        return answer

    def _keep(self, request: Request) -> Answer:
        self.created.append(request)
        name = f"{self.prefix}cachedContents/c{len(self.created)}"
        kept = Answer(json.dumps({"name": name}).encode(), content_type="application/json")
        return self.refuses or kept

    async def handle_async_request(self, request: "HttpRequest") -> "HttpResponse":
        path, headers = request.url.raw_path.decode(), dict(request.headers)
        answer = self(Request(request.method, path, headers, await request.aread()))
        if self.hold is not None and "cachedContents" in path:
            await self.hold.wait()

        async def pieces() -> AsyncIterator[bytes]:
            yield answer.body

        return stream_response(answer.status, dict(answer.headers), pieces())

    async def aclose(self) -> None:
        """Nothing is open."""

    @property
    def named(self) -> list[str | None]:
        return [body.get("cachedContent") for body in self.asked]


@dataclass
class Agent:
    """A running agent and the module that it asks."""

    channel: InProcessChannel
    module: GoogleModule

    async def ask(self, *texts: str) -> None:
        """Ask in a Session of its own, each time until nothing is left to do."""
        session = await self.channel.create_session(agent="a", workspace="w")
        for text in texts:
            result = await session.send_and_wait(text)
            assert result.text == "hi", result
            await anyio.wait_all_tasks_blocked()
        await session.close()


@asynccontextmanager
async def running(module: GoogleModule, prompt: str = PROMPT) -> AsyncGenerator[Agent]:
    channel = InProcessChannel()
    application = new_application(
        "test",
        modules=[
            MemoryStoreModule(),
            module,
            ToolsModule(add),
            gateway_channel("test", channel),
        ],
        config=AgentConfig(system_prompt=prompt, tool_keys=("add",)),
        default_model=CONFIG,
    )
    async with application.start():
        yield Agent(channel, module)


def google(vendor: Vendor, caching: ExplicitCaching | None = CACHING, **more: Any) -> GoogleModule:
    return GoogleModule([CONFIG.model], explicit_caching=caching, **more).over(vendor)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("GOOGLE_ACCESS_TOKEN", KEY)


async def test_over_a_connection_it_is_created_named_and_deleted() -> None:
    vendor = Vendor()
    with anyio.fail_after(20):
        async with loopback(vendor) as server:
            module = GoogleModule([CONFIG.model], base_url=server.url, explicit_caching=CACHING)
            async with running(module) as agent:
                await agent.ask("one")
                while vendor.named[-1] is None:
                    await agent.ask("another")
    first, *_, last = vendor.asked
    [created] = vendor.created
    head = {name: first[name] for name in ("systemInstruction", "tools")}
    kept = {"model": "models/gemini-3.8-flash", "ttl": "3600.000s"}
    assert created.json() == {**head, **kept}
    assert created.headers["x-goog-api-key"] == KEY
    assert created.path == "/v1beta/cachedContents"
    assert last == {"cachedContent": "cachedContents/c1", "contents": last["contents"]}
    assert vendor.paths[-1] == "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
    assert vendor.deleted == ["/v1beta/cachedContents/c1"]


async def test_what_was_asked_once_is_named_from_then_on_in_every_session() -> None:
    vendor = Vendor()
    async with running(google(vendor)) as agent:
        await agent.ask("one", "two")
        await agent.ask("three")
        assert agent.module.cache_stats.hits == 2
        assert agent.module.cache_stats.read_tokens == 2_200
    assert vendor.named == [None, "cachedContents/c1", "cachedContents/c1"]
    assert len(vendor.created) == 1


async def test_what_two_applications_share_is_kept_until_both_have_stopped() -> None:
    vendor = Vendor()
    module = google(vendor)
    async with running(module) as first:
        await first.ask("one")
        async with running(module) as second:
            await second.ask("two")
        assert vendor.deleted == []
        await first.ask("three")
    assert vendor.named == [None, "cachedContents/c1", "cachedContents/c1"]
    assert vendor.deleted == ["/v1beta/cachedContents/c1"]


async def test_what_was_being_kept_for_an_application_that_stops_is_kept_for_the_other() -> None:
    vendor = Vendor(hold=anyio.Event())
    module = google(vendor)
    async with running(module) as first:
        async with running(module) as second:
            await second.ask("one")
        assert vendor.hold is not None
        vendor.hold.set()
        await first.ask("two", "three")
    assert len(vendor.created) == 2
    assert vendor.named == [None, None, "cachedContents/c2"]


async def test_in_google_cloud_it_belongs_to_the_project() -> None:
    place = "projects/mine/locations/us-central1/"
    vendor = Vendor(prefix="projects/12345/locations/us-central1/")
    async with running(google(vendor, vertex=VertexProject("mine", "us-central1"))) as agent:
        await agent.ask("one", "two")
    [created] = vendor.created
    assert created.path == f"/v1/{place}cachedContents"
    assert created.headers["authorization"] == f"Bearer {KEY}"
    assert created.json()["model"] == f"{place}publishers/google/models/gemini-3.8-flash"
    assert vendor.named[-1] == f"{vendor.prefix}cachedContents/c1"
    assert vendor.paths[0] == vendor.paths[1]
    assert vendor.deleted == [f"/v1/{vendor.prefix}cachedContents/c1"]


@pytest.mark.parametrize(
    ("caching", "prompt"), [(None, PROMPT), (CACHING, "Be brief."), (ExplicitCaching(), PROMPT)]
)
async def test_nothing_is_kept_that_is_small_or_that_nobody_wants_kept(
    caching: ExplicitCaching | None, prompt: str
) -> None:
    vendor = Vendor()
    async with running(google(vendor, caching), prompt) as agent:
        await agent.ask("one", "two")
    assert vendor.named == [None, None]
    assert (vendor.created, vendor.deleted) == ([], [])
    assert all(path.startswith("/v1/models/") for path in vendor.paths)


async def test_no_request_waits_for_what_is_being_kept_and_it_is_asked_for_once() -> None:
    done = anyio.Event()
    vendor = Vendor(hold=done)
    async with running(google(vendor)) as agent:
        await agent.ask("one", "two")
        await agent.ask("three")
        assert vendor.named == [None, None, None]
        done.set()
        await agent.ask("four")
        await agent.ask("five")
    assert vendor.named[-1] == "cachedContents/c1"
    assert len(vendor.created) == 1


async def test_in_steady_use_it_is_renewed_before_its_end() -> None:
    vendor = Vendor()
    async with running(google(vendor)) as agent:
        await agent.ask("one", "two")
        skip(0.9 * HOUR)
        await agent.ask("three", "four")
    assert vendor.named == [None, *["cachedContents/c1"] * 2, "cachedContents/c2"]
    assert set(vendor.deleted) == {"/v1beta/cachedContents/c1", "/v1beta/cachedContents/c2"}


async def test_after_its_end_it_is_named_no_more_and_made_anew() -> None:
    vendor = Vendor()
    async with running(google(vendor)) as agent:
        await agent.ask("one", "two")
        skip(HOUR)
        await agent.ask("three", "four")
    assert vendor.named == [None, "cachedContents/c1", None, "cachedContents/c2"]
    assert vendor.deleted == ["/v1beta/cachedContents/c2"]


async def test_a_refused_name_is_forgotten_and_the_question_asked_without() -> None:
    gone = refusal(403, "CachedContent not found (or permission denied)")
    vendor = Vendor()
    async with running(google(vendor, retry=RetryPolicy(max_attempts=1))) as agent:
        await agent.ask("one")
        vendor.failing = gone
        await agent.ask("two", "three")
        assert vendor.named == [None, "cachedContents/c1", None, None]
        vendor.failing = None
        skip(MINUTES_5)
        await agent.ask("four", "five")
    assert vendor.named[4:] == [None, "cachedContents/c2"]


async def test_a_question_goes_out_without_a_name_though_there_is_a_new_one_by_then() -> None:
    vendor = Vendor()
    async with running(google(vendor)) as agent:
        await agent.ask("one")
        vendor.hold = anyio.Event()
        skip(0.9 * HOUR)
        await agent.ask("two")
        vendor.failing = refusal(403, "CachedContent not found (or permission denied)")
        await agent.ask("three")
        vendor.failing = None
        await agent.ask("four")
    names = ["cachedContents/c1"] * 2
    assert vendor.named == [None, *names, None, "cachedContents/c2"]


async def test_asking_without_the_name_is_none_of_the_tries_again() -> None:
    vendor = Vendor()
    retry = RetryPolicy(max_attempts=2, base_delay_seconds=0)
    async with running(google(vendor, retry=retry)) as agent:
        await agent.ask("one")
        vendor.failing = refusal(403, "CachedContent not found (or permission denied)")
        vendor.unwilling = [refusal(503, "The model is overloaded")]
        await agent.ask("two")
    assert vendor.named == [None, "cachedContents/c1", None, None]


@pytest.mark.parametrize(
    "failure",
    [
        refusal(429, "Resource has been exhausted"),
        refusal(503, "The model is overloaded"),
        refusal(400, "The input token count exceeds the maximum number of tokens allowed"),
    ],
)
async def test_a_failure_of_another_cause_is_no_reason_to_forget_it(failure: Answer) -> None:
    vendor = Vendor()
    async with running(google(vendor, retry=RetryPolicy(max_attempts=1))) as agent:
        await agent.ask("one")
        vendor.failing = failure
        session = await agent.channel.create_session(agent="a", workspace="w")
        result = await session.send_and_wait("two")
        assert result.termination is not None
        vendor.failing = None
        await agent.ask("three")
    assert vendor.named == [None, "cachedContents/c1", "cachedContents/c1"]


async def test_a_question_that_is_refused_without_the_name_too_is_asked_no_third_time() -> None:
    vendor = Vendor()
    async with running(google(vendor)) as agent:
        await agent.ask("one")
        wrong = refusal(400, "Please use a valid role")
        vendor.failing, vendor.unwilling = wrong, [wrong, wrong]
        session = await agent.channel.create_session(agent="a", workspace="w")
        result = await session.send_and_wait("two")
        assert result.termination is not None
    assert vendor.named == [None, "cachedContents/c1", None]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (refusal(400, f"The minimum is 4096 tokens, {KEY}"), "The minimum is 4096 tokens, ***"),
        (Answer(b'{"name":"../models"}'), "the server named no cached content"),
        (Answer(b"<html>"), "the server named no cached content"),
    ],
)
async def test_what_cannot_be_kept_is_told_once_and_left_alone_for_a_while(
    answer: Answer, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    vendor = Vendor(refuses=answer)
    caplog.set_level(logging.WARNING)
    async with running(google(vendor)) as agent:
        await agent.ask("one", "two")
        assert len(vendor.created) == 1
        skip(MINUTES_5)
        await agent.ask("three", "four")
    assert vendor.named == [None] * 4
    assert len(vendor.created) == 2
    [told] = caplog.messages
    assert said in told
    assert "gemini-3.8-flash" in told
    assert KEY not in caplog.text


async def test_prompts_that_always_change_do_not_fill_the_server() -> None:
    vendor = Vendor()
    module = google(vendor, ExplicitCaching(min_tokens=1_000, max_contents=2))
    moment = request([message(1, Role.USER, "hi")], config=CONFIG)
    async with application(module).start() as runtime:

        async def ask(number: int) -> None:
            asked = replace(moment, system_prompt=f"{PROMPT}{number}")
            executor = runtime.assembly[MODEL_EXECUTOR]
            await collect(executor.execute(asked, MemoryRecorder()))
            await anyio.wait_all_tasks_blocked()

        for number in (1, 2, 3, 3, 2):
            await ask(number)
        assert vendor.named == [*[None] * 4, "cachedContents/c2"]
        skip(HOUR)
        await ask(3)
        await ask(3)
    assert vendor.named[-1] == "cachedContents/c3"


async def test_a_server_that_does_not_answer_keeps_no_application_from_stopping() -> None:
    vendor = Vendor()
    async with anyio.create_task_group() as tasks, running(google(vendor)) as agent:
        await agent.ask("one")
        vendor.hold = anyio.Event()

        async def let_time_pass() -> None:
            await vendor.deleting.wait()
            skip(CLOSING)

        tasks.start_soon(let_time_pass)
    assert vendor.deleted == ["/v1beta/cachedContents/c1"]


def test_limits_that_make_no_sense_are_refused() -> None:
    for wrong in ({"min_tokens": 0}, {"ttl_seconds": 59}, {"max_contents": 0}):
        [name] = wrong
        with pytest.raises(ValueError, match=name):
            ExplicitCaching(**wrong)
