"""A system-wide context: it counts every running process, on that process's PMU."""

from __future__ import annotations

from pfmon.engine.linux.abi.ia64.perfmon.context_monitor import ContextMonitor
from pfmon.engine.linux.perf.pmu_ownership import owners_of
from pfmon.engine.linux.process.process import Process


class SystemWideContext:
    """Moves the system-wide monitor between processes as linux.system.System switches them."""

    def __init__(self, monitor: ContextMonitor, process: Process) -> None:
        self.monitor = monitor
        self._process: Process | None = process

    def runs(self, process: Process | None) -> None:
        """Move to the running process; None: no process runs, and the last one's processor is dropped."""
        if process is self._process:
            return
        if self._process is not None:
            owners_of(self._process).detach(self.monitor)
        self._process = process
        if process is not None:
            owners_of(process).attach(self.monitor)
