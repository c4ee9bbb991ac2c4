"""A context of the processor: it counts whichever process runs, on that one's PMU."""

from __future__ import annotations

from pfmon.engine.ia64.linux.perfmon.owners import owners_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.engine.ia64.linux.perfmon.monitor import Monitor
    from pfmon.engine.ia64.linux.process import Process


class Everywhere:
    """Takes the processor's monitor along, as linux.system.System tells who runs."""

    def __init__(self, monitor: Monitor, process: Process) -> None:
        self.monitor = monitor
        self._process: Process | None = process

    def runs(self, process: Process | None) -> None:
        """From here on this process runs; None: nobody does, and the one that did gives its processor up."""
        if process is self._process:
            return
        if self._process is not None:
            owners_of(self._process).give(self.monitor)
        self._process = process
        if process is not None:
            owners_of(process).take(self.monitor)
