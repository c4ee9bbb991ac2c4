"""Processes that are stopped: by signals, for job control, and for a process that traces them (ptrace).

A process that no other in the run could continue is not stopped: the first one, unless it is traced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pfmon.engine.linux.abi.structures import SIGINFO_CHILD
from pfmon.engine.linux.process.process_tree import StopReport
from pfmon.engine.linux.signals.signal_table import SIGCHLD, SIGCONT
from pfmon.engine.linux.signals.signals import Signal

if TYPE_CHECKING:
    from pfmon.engine.linux.process.process import Process


SA_NOCLDSTOP = 1
CLD_TRAPPED, CLD_STOPPED, CLD_CONTINUED = 4, 5, 6
STOPPED, CONTINUED = 0x7F, 0xFFFF
"""Wait status: of a stopped process, beside the signal in bits 8 to 15, and of a continued one."""


def watcher(process: Process) -> Process | None:
    """Process notified of a stop: the tracer, else the parent."""
    return process.family.tracer or process.family.parent


def stop(process: Process, number: int) -> None:
    """Stop all threads of a process until it is continued."""
    process.family.stopped = True
    for thread in process.threads.values():
        process.system.schedule.stop(thread)
    traced = process.family.tracer is not None
    _report(process, number << 8 | STOPPED, CLD_TRAPPED if traced else CLD_STOPPED, number)


def go_on(process: Process, *, report: bool) -> None:
    """Continue a process. ``report``: notify waiters for that (SIGCONT)."""
    if not process.family.stopped:
        return
    process.family.stopped = False
    for thread in process.threads.values():
        process.system.schedule.release(thread)
    if report:
        _report(process, CONTINUED, CLD_CONTINUED, SIGCONT)


def _report(process: Process, status: int, code: int, number: int) -> None:
    told = watcher(process)
    if told is None:
        return
    family = told.family
    family.stops = [one for one in family.stops if one.process is not process]
    family.stops.append(StopReport(process, status))
    if not told.signals.action(SIGCHLD).flags & SA_NOCLDSTOP:
        user = process.settings.user_id
        info = SIGINFO_CHILD.pack(SIGCHLD, 0, code, process.process_id, user, number, 0, 0)
        told.send(Signal(SIGCHLD, info))
    told.wake_waiting_for_children()
