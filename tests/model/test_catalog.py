"""The embedded catalog, and how a model is found in it."""

import logging
from datetime import date
from decimal import Decimal

import pytest

from agentslot.model import MODEL_CATALOG, ModelDescriptor, OpenAICompatibleModule, Reasoning
from agentslot.model.catalog import (
    UnknownModelError,
    embedded_catalog,
    find,
    resolve,
    resolve_at,
)
from agentslot.session import ErrorKind
from tests.model.support import application


def test_the_catalog_is_dated_and_says_where_it_is_from() -> None:
    catalog = embedded_catalog()
    assert catalog.date > date(2026, 1, 1)
    assert any(source.startswith("litellm ") for source in catalog.sources)
    assert "MIT License" in catalog.notice
    assert catalog is embedded_catalog()


def test_every_row_makes_sense() -> None:
    for name, vendor in embedded_catalog().vendors.items():
        assert vendor.default in vendor.models, name
        for model, row in vendor.models.items():
            assert row.window > 0, model
            assert 0 <= row.output <= row.window, model
            assert row.capabilities.reasoning[0] is Reasoning.DEFAULT
            if row.price is not None:
                tiers = [(tier.service, tier.above) for tier in row.price.tiers]
                assert tiers == sorted(set(tiers)), model
                assert ("", 0) not in tiers, model
                assert all(r.input >= 0 and r.output >= 0 for r in (row.price, *row.price.tiers))


def test_a_model_is_found_by_vendor_and_id_or_by_an_id_that_only_one_vendor_has() -> None:
    full = resolve("anthropic/claude-opus-5-5")
    assert full == resolve("claude-opus-5-5") == find("anthropic", "claude-opus-5-5")
    assert (full.vendor, full.model, full.row.window) == ("anthropic", "claude-opus-5-5", 1_000_000)
    assert full.price is not None
    assert full.price.cached_input == Decimal("0.2")
    assert full.warning == ""


def test_what_stands_before_a_slash_is_a_vendor_only_if_there_is_one() -> None:
    assert resolve("groq/openai/gpt-oss-120b").model == "openai/gpt-oss-120b"
    with pytest.raises(UnknownModelError, match="nowhere/gpt-5"):
        resolve("nowhere/gpt-5")
    # A vendor that is named is kept, also where another one lists the whole text as an id.
    assert resolve("anthropic/claude-sonnet-4.5").vendor == "anthropic"


def test_an_id_of_several_vendors_is_an_error_that_names_them() -> None:
    with pytest.raises(UnknownModelError) as caught:
        resolve("deepseek-v4-pro")
    assert caught.value.kind is ErrorKind.INVALID_INPUT
    assert caught.value.code == "model_not_supported"
    assert "deepseek/deepseek-v4-pro" in caught.value.candidates


def test_a_misspelled_id_is_an_error_with_the_nearest_ones() -> None:
    with pytest.raises(UnknownModelError, match="openai/gpt-5-mini"):
        resolve("gpt-5-mni")
    with pytest.raises(UnknownModelError, match="anthropic/"):
        resolve("no such thing at all")


def test_a_dated_form_has_the_row_and_the_price_of_its_model() -> None:
    dated = resolve("openai/gpt-5-mini-2027-01-01")
    assert (dated.model, dated.cloned_from) == ("gpt-5-mini-2027-01-01", "gpt-5-mini")
    assert dated.price == resolve("gpt-5-mini").price
    assert "gpt-5-mini'" in dated.warning


def test_a_new_model_of_a_known_vendor_is_like_its_default_but_has_no_price() -> None:
    default = embedded_catalog().vendors["openai"].default
    new = resolve_at("openai", "gpt-99")
    assert (new.model, new.cloned_from) == ("gpt-99", default)
    assert new.row == find_row("openai", default)
    assert new.price is None
    assert "of unknown price" in new.warning
    assert "do you mean 'claude-opus-5-5'?" in resolve("anthropic/claude-opus-55").warning


def find_row(vendor: str, model: str) -> object:
    return embedded_catalog().vendors[vendor].models[model]


@pytest.mark.parametrize(
    ("url", "vendor"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://eu.api.openai.com/v1", "openai"),
        ("https://us-central1-aiplatform.googleapis.com/v1", "google"),
        ("https://api.openai.com.example/v1", None),
        ("http://127.0.0.1:8080", None),
        ("", None),
    ],
)
def test_a_vendor_is_known_by_its_hosts(url: str, vendor: str | None) -> None:
    assert embedded_catalog().vendor_at(url) == vendor


def described(base_url: str, model: str, provider: str = "openai") -> ModelDescriptor:
    module = OpenAICompatibleModule(base_url, [model], provider=provider)
    [descriptor] = application(module).build()[MODEL_CATALOG][provider].models()
    return descriptor


def test_a_module_takes_what_it_is_not_told_from_the_catalog(
    caplog: pytest.LogCaptureFixture,
) -> None:
    known = described("https://api.openai.com/v1", "gpt-5-mini", provider="mine")
    assert known == resolve("gpt-5-mini").descriptor("mine")
    assert not caplog.records
    new = described("https://api.openai.com/v1", "gpt-99")
    assert new.capabilities.context_window_tokens > 128_000
    assert new.price is None
    [record] = caplog.records
    assert (record.levelno, "gpt-99" in record.getMessage()) == (logging.WARNING, True)


def test_at_a_server_of_somebody_else_only_a_listed_id_is_taken_for_the_vendors() -> None:
    assert described("http://127.0.0.1:1/v1", "gpt-5-mini").price is not None
    local = described("http://127.0.0.1:1/v1", "gpt-99")
    assert (local.capabilities.context_window_tokens, local.price) == (128_000, None)
    assert described("http://127.0.0.1:1/v1", "gpt-5-mini", provider="local").price is None
