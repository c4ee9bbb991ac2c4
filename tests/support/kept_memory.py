"""What a module's tests keep for each other goes with the last of them: a worker with much memory starts each command
slowly, since a fork copies the table of its pages."""

import ctypes
import gc
from types import ModuleType


def forget(module: ModuleType) -> None:
    """Forget what the module's own cached functions returned, and give the memory back to the host."""
    own = [kept for kept in vars(module).values() if getattr(kept, "__module__", "") == module.__name__]
    for function in own:
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc alone
    if trim:
        trim(0)
