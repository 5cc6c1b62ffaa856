"""What an agent makes of a count of tokens: whether it is exact stands wherever the number does."""

from pathlib import Path

import pytest

from agentslot.interaction import InProcessChannel, RunResult, gateway_channel
from agentslot.model import ModelConfig, OpenAICompatibleModule, OpenAITokens
from agentslot.session import ContextView, FileStore, FileStoreModule
from agentslot.session.codec import encode
from agentslot.standardagent import AgentConfig, new_application
from tests.loopback import Answer, loopback
from tests.model.stages import VENDORS

QUESTION = "What is the capital of Mexico?"
TOKENS = 14
"""What OpenAI reports for a request that shows gpt-4o this question and nothing else."""


async def ask(
    folder: Path, model: str, *, by_vocabulary: bool, limit: int = 0
) -> tuple[RunResult, ContextView | None]:
    """The answer to the question, and what is recorded of the request."""
    vendor, channel = VENDORS["openai-completions"], InProcessChannel()
    async with loopback(Answer(vendor.answer, content_type=vendor.content_type)) as server:
        provider = OpenAICompatibleModule(f"{server.url}/v1", [model])
        application = new_application(
            "test",
            modules=[
                FileStoreModule(folder),
                provider.counted_by(OpenAITokens()) if by_vocabulary else provider,
                gateway_channel("test", channel),
            ],
            config=AgentConfig(hard_token_limit=limit),
            default_model=ModelConfig("openai", model),
        )
        async with application.start():
            session = await channel.create_session(agent="a", workspace="w")
            result = await session.send_and_wait(QUESTION)
    async with FileStore(folder) as store:
        return result, (await store.load(session.id)).state.context


async def test_an_exact_count_is_recorded_as_one(tmp_path: Path) -> None:
    pytest.importorskip("bpe_openai")
    result, view = await ask(tmp_path, "gpt-4o", by_vocabulary=True, limit=TOKENS)
    assert result.text == "hi"
    assert view is not None
    assert (view.token_count, view.token_count_exact) == (TOKENS, True)


async def test_a_bound_is_recorded_as_one(tmp_path: Path) -> None:
    _, view = await ask(tmp_path, "gpt-4o", by_vocabulary=False)
    assert view is not None
    assert view.token_count > TOKENS
    assert not view.token_count_exact
    assert b"token_count_exact" not in encode(view)


async def test_a_request_over_the_limit_says_how_many_tokens_it_has(tmp_path: Path) -> None:
    pytest.importorskip("bpe_openai")
    result, _ = await ask(tmp_path, "gpt-4o", by_vocabulary=True, limit=TOKENS - 1)
    assert result.termination is not None
    assert result.termination.code == "context_limit_exceeded"
    assert "the request has 14 tokens, the limit is 13:" in result.termination.message


async def test_a_bound_over_the_limit_says_that_it_is_one(tmp_path: Path) -> None:
    result, _ = await ask(tmp_path, "gpt-4o", by_vocabulary=False, limit=TOKENS)
    assert result.termination is not None
    assert result.termination.code == "context_limit_exceeded"
    assert "the request has at most " in result.termination.message
    assert " tokens, the limit is 14:" in result.termination.message
