"""When a call is tried again, and how long it waits before."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentslot.model import ModelError, ModelErrorCode, RetryPolicy
from agentslot.model.retry import retry_after_seconds, should_retry
from agentslot.model.vendorerrors import VendorError, classify


def passing(asked: float | None = None) -> ModelError:
    return ModelError(ModelErrorCode.OVERLOADED, "busy", retryable=True, retry_after_seconds=asked)


@given(attempts=st.integers(1, 9))
def test_the_wait_doubles_up_to_its_limit_less_a_quarter_at_most(attempts: int) -> None:
    policy = RetryPolicy(max_attempts=10)
    delay = policy.delay_seconds(passing(), attempts)
    full = min(0.5 * 2 ** (attempts - 1), 8.0)
    assert delay is not None
    assert full * 0.75 <= delay <= full


def test_the_providers_figure_wins_and_an_hour_is_not_waited_for() -> None:
    policy = RetryPolicy()
    assert policy.delay_seconds(passing(7.0), 1) == 7.0
    assert policy.delay_seconds(passing(0.0), 1) == 0.0
    assert policy.delay_seconds(passing(61.0), 1) is None


def test_the_last_attempt_and_a_lasting_failure_end_the_call() -> None:
    assert RetryPolicy(max_attempts=2).delay_seconds(passing(), 2) is None
    lasting = ModelError(ModelErrorCode.REQUEST_REJECTED, "no", retry_after_seconds=1)
    assert RetryPolicy().delay_seconds(lasting, 1) is None


@pytest.mark.parametrize("attempts", [0, 11])
def test_a_policy_outside_its_bounds_is_refused(attempts: int) -> None:
    with pytest.raises(ValueError, match="max_attempts"):
        RetryPolicy(max_attempts=attempts)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_a_wait_is_read_from_the_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers) == seconds


def test_a_wait_until_a_date_is_counted_from_now() -> None:
    header = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    seconds = retry_after_seconds({"retry-after": header})
    assert seconds is not None
    assert 80 < seconds <= 90


def test_an_explicit_word_on_retrying_is_read() -> None:
    assert should_retry({"x-should-retry": "true"}) is True
    assert should_retry({"x-should-retry": "False"}) is False
    assert should_retry({"x-should-retry": "maybe"}) is None


@pytest.mark.parametrize(
    ("vendor", "code", "retryable"),
    [
        (VendorError(429, code="insufficient_quota"), ModelErrorCode.QUOTA_EXHAUSTED, False),
        (VendorError(400, code="context_length_exceeded"), ModelErrorCode.CONTEXT_EXCEEDED, False),
        (
            VendorError(400, type="exceed_context_size_error"),
            ModelErrorCode.CONTEXT_EXCEEDED,
            False,
        ),
        (VendorError(400, code="content_filter"), ModelErrorCode.REFUSED, False),
        (VendorError(529, type="overloaded_error"), ModelErrorCode.OVERLOADED, True),
        (VendorError(0, type="overloaded_error"), ModelErrorCode.OVERLOADED, True),
        (VendorError(0, type="rate_limit_error"), ModelErrorCode.RATE_LIMITED, True),
        (VendorError(0, message="Please try again"), ModelErrorCode.OVERLOADED, True),
        (VendorError(0, message="something else"), ModelErrorCode.REQUEST_REJECTED, False),
        (VendorError(503, message="context length"), ModelErrorCode.OVERLOADED, True),
    ],
)
def test_a_vendors_words_decide_where_its_status_does_not(
    vendor: VendorError, code: ModelErrorCode, retryable: bool
) -> None:
    error = classify(vendor)
    assert (error.code, error.retryable) == (code, retryable)
