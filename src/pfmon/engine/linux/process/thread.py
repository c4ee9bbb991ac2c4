"""One thread of a process: the kernel's state of it while it does not run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pfmon.engine.linux.signals.signals import Signals

if TYPE_CHECKING:
    from pfmon.engine.linux.process.process import Process


class Wait:
    """The wait of a system call, which is repeated when one of these events or a signal arrives; holds the call's state
    from before the wait."""

    def __init__(
        self,
        text: str,
        *,
        began: int = 0,
        deadline: int | None = None,
        files: Mapping[int, int] | None = None,
        signals: int = 0,
        again_after: int = 0,
        outside: bool = False,
        children: bool = False,
    ) -> None:
        """``text``: shown for a deadlock; ``deadline``: of the monotonic clock, in nanoseconds; ``files``: events of
        poll(2) by the host's descriptor; ``signals``: blocked ones that also end it; ``again_after``: the host's
        nanoseconds until the next attempt; ``outside``: the event may come from outside of the run; ``children``: the
        end of a child ends it."""
        self.text = text
        self.began = began
        self.deadline = deadline
        self.files = files or {}
        self.signals = signals
        self.again_after = again_after
        self.outside = outside
        self.children = children
        self.done = 0
        """Bytes transferred before the wait."""
        self.woken = False
        """Another thread or process has ended the wait (a futex, a child)."""


class Blocked(Exception):
    """The running system call has to wait."""

    def __init__(self, wait: Wait) -> None:
        super().__init__(wait.text)
        self.wait = wait


class Thread:
    """``number``: the thread's id; ``place``: the number of threads that its process had before it."""

    def __init__(self, process: Process, number: int, place: int, signals: Signals) -> None:
        self.process = process
        self.number = number
        self.place = place
        self.signals = signals
        self.name = b""
        self.context: Any = None
        """Its registers while another thread of its process is in the processor."""
        self.clear_child_tid = 0
        self.robust_list = 0
        self.wait: Wait | None = None
        """The wait of its system call, kept while the call is repeated."""
        self.done = 0
        """Bytes that its system call transferred before the wait."""
        self.retired = 0
        """Instructions retired by the end of its last turn."""

    def __repr__(self) -> str:
        return f"<Thread {self.number}>"
