"""Middleware for `model.middleware`: another model, a rate limit, a cache of answers.

```python
Module(
    "my.middleware",
    MODEL_MIDDLEWARE.append(RequestCache()),
    MODEL_MIDDLEWARE.append(RateLimit(60)),
    MODEL_MIDDLEWARE.append(FallbackModel(ModelConfig("openai", "gpt-5-mini"))),
)
```

The first is the outermost: here an answer from the cache waits for no rate limit.
"""

from agentslot.model.middleware.fallback import FALLBACK_CODES, FallbackModel
from agentslot.model.middleware.ratelimit import RateLimit, TokenBucket
from agentslot.model.middleware.recording import PassingRecorder
from agentslot.model.middleware.requestcache import RequestCache
from agentslot.model.wires.caching import CacheStats

__all__ = [
    "FALLBACK_CODES",
    "CacheStats",
    "FallbackModel",
    "PassingRecorder",
    "RateLimit",
    "RequestCache",
    "TokenBucket",
]
