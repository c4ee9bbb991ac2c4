"""What tests keep for each other goes with the last of them: a worker with much memory starts each command slowly,
since a fork copies the table of its pages."""

import ctypes
import gc
import resource
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest

OF_A_FOLDER = ("captured", "timeline")
"""Modules of tests/support whose runs several modules of a folder share."""

MUCH = 32 << 20
"""Bytes more than behind the last collection, for which another is worth its time: a look through all objects takes
longer than most tests."""


class Least:
    """Bytes in memory behind the last collection."""

    memory = 0


def forget_what_is_left(item: pytest.Item, following: pytest.Item | None) -> None:
    """Behind the last test of a module, or of a folder, forget what its tests have kept."""
    if following is not None and following.path == item.path:
        return
    modules = [item.module] if isinstance(item, pytest.Function) else []
    if following is None or following.path.parent != item.path.parent:
        modules += [sys.modules[name] for name in OF_A_FOLDER if name in sys.modules]
    forget(modules)


def forget(modules: Iterable[ModuleType]) -> None:
    """Forget what the modules' own cached functions returned; collect what is left of it if it is much."""
    for module in modules:
        own = [kept for kept in vars(module).values() if getattr(kept, "__module__", "") == module.__name__]
        for function in own:
            if hasattr(function, "cache_clear"):
                function.cache_clear()
    if resident() > Least.memory + MUCH:
        gc.collect()
        _give_back()
        Least.memory = resident()


def resident() -> int:
    """Bytes of this process that are in memory (proc_pid_statm(5))."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _give_back() -> None:
    """Free memory goes back to the host."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc alone
    if trim:
        trim(0)
