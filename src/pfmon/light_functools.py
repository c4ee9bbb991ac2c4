"""cache of the module functools, without importing it: that took 1 ms of the start of a run."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cache
else:
    from _functools import _lru_cache_wrapper

    def cache(function: object) -> object:
        """What a function returned is returned again for the same arguments."""
        cached = _lru_cache_wrapper(function, None, False, tuple)
        cached.__module__, cached.__name__ = function.__module__, function.__name__
        cached.__qualname__, cached.__doc__, cached.__wrapped__ = function.__qualname__, function.__doc__, function
        return cached


__all__ = ["cache"]
