"""What tests keep for each other goes with the last of them: a worker with much memory starts each command slowly,
since a fork copies the table of its pages."""

import ctypes
import gc
import sys
from collections.abc import Iterable
from types import ModuleType

import pytest

OF_A_FOLDER = ("captured", "timeline")
"""Modules of tests/support whose runs several modules of a folder share."""


def forget_what_is_left(item: pytest.Item, following: pytest.Item | None) -> None:
    """Behind the last test of a module, or of a folder, forget what its tests have kept."""
    if following is not None and following.path == item.path:
        return
    modules = [item.module] if isinstance(item, pytest.Function) else []
    if following is None or following.path.parent != item.path.parent:
        modules += [sys.modules[name] for name in OF_A_FOLDER if name in sys.modules]
    forget(modules)


def forget(modules: Iterable[ModuleType]) -> None:
    """Forget what the modules' own cached functions returned, and give the memory back to the host."""
    for module in modules:
        own = [kept for kept in vars(module).values() if getattr(kept, "__module__", "") == module.__name__]
        for function in own:
            if hasattr(function, "cache_clear"):
                function.cache_clear()
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc alone
    if trim:
        trim(0)
