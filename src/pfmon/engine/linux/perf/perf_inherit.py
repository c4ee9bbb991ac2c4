"""Perf events inherited by child processes: each child has a copy, which adds to the opened event (Linux 6.1,
kernel/events/core.c, perf_event_init_task)."""

from __future__ import annotations

from pfmon.engine.linux.perf.kernel_process import KernelProcess
from pfmon.engine.linux.perf.perf_attributes import INHERIT
from pfmon.engine.linux.perf.perf_event import PerfEvent
from pfmon.engine.linux.perf.perf_schedule import PerfScheduler
from pfmon.engine.linux.perf.pmu_ownership import owners_of
from pfmon.engine.linux.process.process import Process


def forked(parent: Process, child: Process) -> None:
    """Give a child copies of its parent's groups whose leaders are inherited."""
    schedule = owners_of(parent).schedule if parent.owners is not None else None
    if schedule is None:
        return
    own = PerfScheduler(KernelProcess(child))
    copies = inherited(schedule, own, child.thread.number)
    if not copies:
        return
    owners = owners_of(child)
    if any(event.pmu_event for event in copies):
        owners.take_for_perf()
    owners.schedule = own
    own.begin_in_child(copies)


def inherited(parent: PerfScheduler, own: PerfScheduler, thread: int) -> list[PerfEvent]:
    """Copies of the parent's groups whose leaders are inherited, for a child's ``own`` schedule and first thread."""
    copies: list[PerfEvent] = []
    for leader in parent.in_order():
        if leader.attributes.flags & INHERIT:
            first = _copy(leader, own, None, thread)
            first.siblings = [_copy(one, own, first, thread) for one in leader.siblings]
            copies += [first, *first.siblings]
    return copies


def _copy(event: PerfEvent, schedule: PerfScheduler, leader: PerfEvent | None, thread: int) -> PerfEvent:
    root = event.root
    copy = PerfEvent(root.id, event.attributes, event.source, leader, thread, own=False)
    copy.root, copy.file = root, root.file
    copy.is_on, copy.period, copy.left = event.is_on, event.period, event.period
    root.copies.append((schedule, copy))
    return copy
