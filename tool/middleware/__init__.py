"""Middleware for `tool.middleware`: a time limit, a cache of results.

```python
Module(
    "my.tool-middleware",
    TOOL_MIDDLEWARE.append(TimeLimit(60)),
    TOOL_MIDDLEWARE.append(ResultCache()),
)
```

The first is the outermost: here a result from the cache has no limit to keep.
"""

from typing import TYPE_CHECKING

from agentslot._lazy import imports_when_used

if TYPE_CHECKING or not imports_when_used(__name__):
    from agentslot.tool.middleware.contract import TOOL_MIDDLEWARE, ToolMiddleware, ToolProceed
    from agentslot.tool.middleware.resultcache import ResultCache, ResultCacheStats
    from agentslot.tool.middleware.timelimit import TimeLimit

__all__ = [
    "TOOL_MIDDLEWARE",
    "ResultCache",
    "ResultCacheStats",
    "TimeLimit",
    "ToolMiddleware",
    "ToolProceed",
]
