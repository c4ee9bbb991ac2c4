"""The system calls, by subject. A new module is added to one of these lists."""

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
    monitoring,
    processes,
    signals,
    terminal,
    threads,
    time,
    tracing,
    waiting,
)
from pfmon.engine.ia64.linux.calls.registry import HANDLERS
from pfmon.engine.ia64.linux.numbers import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.engine.ia64.linux.calls.registry import Handler

MODULES = (
    control,
    descriptors,
    directories,
    identity,
    io,
    limits,
    memory,
    metadata,
    monitoring,
    processes,
    signals,
    terminal,
    threads,
    time,
    tracing,
    waiting,
)

SELDOM = {
    "events": ("epoll", "eventfd", "timerfd", "signalfd", "inotify"),
    "locks": ("flock",),
    "posix_timers": ("timer_",),
    "sockets": (
        *("socket", "bind", "connect", "listen", "accept", "getsock", "getpeer", "setsock", "shutdown"),
        *("send", "recv"),
    ),
}
"""Modules that most programs do not need, and how the names of their calls begin: loaded when the first of them is
made."""

__all__ = ["HANDLERS", "MODULES", "SELDOM", "handler"]


def handler(number: int) -> tuple[Handler | None, int]:
    """Who carries out a call, and how many arguments it takes; None: nobody does."""
    if number not in HANDLERS:
        name = NAMES.get(number, "")
        for module, beginnings in SELDOM.items():
            if name.startswith(beginnings) and name != "sendfile":
                load(module)
    return HANDLERS.get(number, (None, 0))


def load(module: str) -> None:
    """Register the calls of a module."""
    from importlib import import_module

    import_module(f"{__name__}.{module}")
