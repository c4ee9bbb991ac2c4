"""Ownership of the PMU: pfmon itself, perfmon contexts, or perf events. A later claim fails with EBUSY.

Contexts of several threads own it in turn, each while its thread runs. A system-wide context owns it alone.
"""

from __future__ import annotations

import errno
from typing import Protocol

from pfmon.engine.linux.perf.perf_schedule import PerfScheduler
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail

PFMON_HAS_IT = "{}: pfmon has the PMU in this run, so it returns EBUSY; --guest-pmu gives it to the program"


class MonitoringContext(Protocol):
    """A monitoring session that a program has created: of one thread (``task``), or ``system``-wide."""

    system: bool
    task: int | None

    def ended(self) -> None:
        """Its thread has ended."""


class Monitor(Protocol):
    """A context on the PMU of a process."""

    @property
    def context(self) -> MonitoringContext:
        """The context."""

    def load(self) -> None:
        """Load it. OSError: it cannot be counted."""

    def unload(self) -> None:
        """Unload it."""

    def save_counters(self) -> None:
        """Its thread no longer runs."""

    def restore_counters(self) -> None:
        """Its thread runs again."""

    def move(self, process: Process) -> None:
        """Move to the PMU of another process, which runs from here on."""


class PmuOwnership:
    """The loaded contexts of a process, its perf events, and the present owner of the PMU."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.monitors: dict[MonitoringContext, Monitor] = {}
        self._here: Monitor | None = None
        self.schedule: PerfScheduler | None = None

    # --- perfmon

    def load(self, monitor: Monitor) -> None:
        """Load a context with its task or processor. OSError: EBUSY, EINVAL."""
        context = monitor.context
        self._check_pmu("perfmonctl (PFM_LOAD_CONTEXT)")
        owners = [owners_of(process) for process in self._process.system.processes.values() if process.owners]
        if any(
            other.system or context.system or other.task == context.task for one in owners for other in one.monitors
        ) or any(one.uses_perf for one in (owners if context.system else [self])):
            fail(errno.EBUSY)
        monitor.load()
        self.monitors[context] = self._here = monitor

    def unload(self, context: MonitoringContext) -> None:
        """Unload a context."""
        monitor = self.monitors.pop(context)
        monitor.unload()
        if context.system:
            self._process.system.everywhere = None
        if monitor is self._here:
            self._here = None

    def switched(self) -> None:
        """Switch contexts with the process's threads."""
        thread = self._process.thread.number
        wanted = next((one for one in self.monitors.values() if one.context.system or one.context.task == thread), None)
        if wanted is not self._here:
            if self._here is not None:
                self._here.save_counters()
            if wanted is not None:
                wanted.restore_counters()
            self._here = wanted
        if self.schedule is not None:
            self.schedule.change()

    def thread_ended(self, thread: int) -> None:
        """Notify the monitor of a thread that is about to end."""
        for context in [context for context in self.monitors if context.task == thread and not context.system]:
            self.unload(context)
            context.ended()
        if self.schedule is not None:
            self.schedule.update()

    def detach(self, monitor: Monitor) -> None:
        """Detach the system-wide monitor: another process runs, or none."""
        monitor.save_counters()
        del self.monitors[monitor.context]
        self._here = None

    def attach(self, monitor: Monitor) -> None:
        """Attach the system-wide monitor: this process runs from here on."""
        self._check_pmu("perfmonctl")
        monitor.move(self._process)
        self.monitors[monitor.context] = self._here = monitor

    # --- perf

    @property
    def uses_perf(self) -> bool:
        """Whether perf events own the PMU."""
        return self.schedule is not None and self.schedule.uses_pmu

    def take_for_perf(self) -> None:
        """Claim the PMU for perf events. OSError (EBUSY): it has another owner."""
        self._check_pmu("perf_event_open")
        if self.monitors:
            fail(errno.EBUSY)

    def switch_events(self, on: bool) -> None:
        """Enable or disable the perf events of the process (prctl)."""
        if self.schedule is not None:
            self.schedule.switch_all(on)

    def rotate_if_due(self) -> None:
        """The program was stopped, perhaps to rotate perf events."""
        if self.schedule is not None:
            self.schedule.rotate_if_due()

    # --- all

    def unload_all(self, ended: bool) -> None:
        """Unload everything: the process has ``ended``, or executes another program, which contexts do not count."""
        for context in [context for context in self.monitors if not context.system]:
            self.unload(context)
            if ended:
                context.ended()
        if self.schedule is not None:
            self.schedule.end() if ended else self.schedule.leave_program()
        if self._process.pmu is not None and self._here is None:
            self._process.pmu.set_overflow_handler(None)
        if ended:
            self.schedule = None

    def begin_program(self) -> None:
        """Resume perf events in an executed program."""
        process, host = self._process, self._process.system.host
        if self.schedule is not None and host is not None:
            process.pmu = host.pmu_of(process) if self.schedule.uses_pmu else None
            self.schedule.begin_program()

    def _check_pmu(self, what: str) -> None:
        process = self._process
        if process.pmu is None and process.system.host is not None:
            process.pmu = process.system.host.pmu_of(process)
        if process.pmu is None:
            process.notice(PFMON_HAS_IT.format(what))
            fail(errno.EBUSY)


def owners_of(process: Process) -> PmuOwnership:
    """The owners of a process's PMU."""
    if not isinstance(process.owners, PmuOwnership):
        process.owners = PmuOwnership(process)
    return process.owners
