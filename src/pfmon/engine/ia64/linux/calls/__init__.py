"""The system calls, by subject. A new module is added to this list."""

from __future__ import annotations

from pfmon.engine.ia64.linux.calls import (
    control,
    descriptors,
    directories,
    identity,
    io,
    limits,
    memory,
    metadata,
    processes,
    signals,
    terminal,
    threads,
    time,
    waiting,
)
from pfmon.engine.ia64.linux.calls.registry import HANDLERS

MODULES = (
    control,
    descriptors,
    directories,
    identity,
    io,
    limits,
    memory,
    metadata,
    processes,
    signals,
    terminal,
    threads,
    time,
    waiting,
)

__all__ = ["HANDLERS", "MODULES"]
