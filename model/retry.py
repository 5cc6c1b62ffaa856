"""When to try again, and how long to wait before."""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from agentslot.model.errors import ModelError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how patiently one logical call is tried.

    Attributes:
        max_attempts: physical requests of one logical call, 1 to 10.
        base_delay_seconds: wait before the second attempt; doubles with each further one.
        max_delay_seconds: longest wait of our own choice.
        max_retry_after_seconds: longest wait that a provider may ask for. More ends the call:
            sleeping for an hour helps nobody.
    """

    max_attempts: int = 3
    base_delay_seconds: float = 0.5
    max_delay_seconds: float = 8.0
    max_retry_after_seconds: float = 60.0

    def __post_init__(self) -> None:
        if not 1 <= self.max_attempts <= 10:
            message = f"max_attempts must be between 1 and 10, not {self.max_attempts}"
            raise ValueError(message)

    def delay_seconds(self, error: ModelError, attempts: int) -> float | None:
        """How long to wait after `attempts` attempts of which the last failed; None: give up.

        The provider's own figure wins; else the delay doubles, less up to a quarter at random, so
        that many clients do not come back at once.
        """
        if not error.retryable or attempts >= self.max_attempts:
            return None
        asked = error.retry_after_seconds
        if asked is not None:
            return asked if asked <= self.max_retry_after_seconds else None
        delay = min(self.base_delay_seconds * 2.0 ** (attempts - 1), self.max_delay_seconds)
        return delay * random.uniform(0.75, 1.0)  # noqa: S311 - spreads load, guards nothing


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """How long a provider asks to wait: `retry-after-ms`, or `retry-after` as seconds or a date."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    if seconds is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def should_retry(headers: Mapping[str, str]) -> bool | None:
    """The provider's explicit word on trying again, None if it said nothing."""
    return {"true": True, "false": False}.get(headers.get("x-should-retry", "").lower())


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
