"""The relations of a process: its number, parent, children, group and session."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pfmon.engine.linux.process.thread import Thread
from pfmon.engine.linux.signals.signals import Signal

if TYPE_CHECKING:
    from pfmon.engine.linux.process.process import Process


SA_NOCLDSTOP = 1
CLD_TRAPPED, CLD_STOPPED, CLD_CONTINUED = 4, 5, 6
STOPPED, CONTINUED = 0x7F, 0xFFFF
"""Wait status: of a stopped process, beside the signal in bits 8 to 15, and of a continued one."""
INIT = 1
"""The parent of a process whose own parent has ended."""


class Zombie(NamedTuple):
    """An ended child or traced process, not yet waited for: wait status, processor time in nanoseconds, its group."""

    process_id: int
    status: int
    used: int
    group: int


class StopReport(NamedTuple):
    """A stopped or continued process, not yet waited for: wait status."""

    process: Process
    status: int


class ProcessTree:
    """The relations of one process. The first one leads a group and a session of its own."""

    def __init__(self, process_id: int, parent: Process | None, parent_id: int = INIT) -> None:
        self.process_id = process_id
        self.parent = parent
        self._parent_id = parent_id
        self.group = self.session = process_id
        if parent is not None:
            self.group, self.session = parent.family.group, parent.family.session
        self.children: list[Process] = []
        self.ended: list[Zombie] = []
        self.used_by_children = 0
        """Processor time of children that were waited for."""
        self.lender: Thread | None = None
        """The thread that called vfork, while it waits."""
        self.exit_signal = 0
        self.stopped = False
        self.stops: list[StopReport] = []
        """Stopped or continued children and traced processes."""
        self.tracer: Process | None = None
        """Its tracer (ptrace)."""
        self.traced: list[Process] = []
        self.injected: Signal | None = None
        """The signal that stopped it for its tracer, delivered when it continues."""
        self.threads_made = 0
        self.executed = False
        """Whether it has executed a program since it was forked."""

    @property
    def parent_id(self) -> int:
        """The parent's number."""
        return self.parent.process_id if self.parent else self._parent_id

    @property
    def watcher(self) -> Process | None:
        """Process notified of a stop: the tracer, else the parent."""
        return self.tracer or self.parent

    def orphan(self) -> None:
        """Note that the parent has ended."""
        self.parent, self._parent_id = None, INIT
