"""Who has the PMU: pfmon itself, a perfmon context, or perf events. Whoever comes second gets EBUSY."""

from __future__ import annotations

import errno

from pfmon.engine.ia64.linux.errors import fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.engine.ia64.linux.perfmon.context import Context
    from pfmon.engine.ia64.linux.perfmon.messages import ContextFile
    from pfmon.engine.ia64.linux.perfmon.monitor import Monitor
    from pfmon.engine.ia64.linux.perfmon.perf_schedule import Schedule
    from pfmon.engine.ia64.linux.process import Process

PFMON_HAS_IT = "{}: pfmon has the PMU in this run, so it returns EBUSY; --guest-pmu gives it to the program"


class Owners:
    """The contexts of a process, and what has the PMU."""

    def __init__(self) -> None:
        self.contexts: dict[ContextFile, Context] = {}
        self.monitors: dict[Context, Monitor] = {}
        self._owner: object = None
        self.schedule: Schedule | None = None

    def take(self, process: Process, owner: object, what: str) -> None:
        """Take the PMU. OSError (EBUSY): somebody has it; ``what``: how the program wants it."""
        if process.pmu is None:
            process.notice(PFMON_HAS_IT.format(what))
            fail(errno.EBUSY)
        if self._owner not in (None, owner):
            fail(errno.EBUSY)
        self._owner = owner

    def give_back(self, owner: object) -> None:
        """Whoever had the PMU does not want it any more."""
        if self._owner is owner:
            self._owner = None

    def look(self) -> None:
        """The program was stopped, perhaps for perf events that take turns."""
        if self.schedule is not None:
            self.schedule.look()


def owners_of(process: Process) -> Owners:
    """Those of a process."""
    if process.owners is None:
        process.owners = Owners()
    return process.owners
