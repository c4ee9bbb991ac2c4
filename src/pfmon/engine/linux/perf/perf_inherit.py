"""Perf events inherited by child processes: each child has a copy, which adds to the opened event (Linux 6.1,
kernel/events/core.c, perf_event_init_task and perf_event_exit_task)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pfmon.engine.linux.perf.perf_attributes import INHERIT
from pfmon.engine.linux.perf.perf_event import PerfEvent
from pfmon.engine.linux.process.process import Process

if TYPE_CHECKING:
    from pfmon.engine.linux.perf.perf_schedule import PerfScheduler


def forked(schedule: PerfScheduler, child: Process) -> None:
    """Give a child copies of its parent's groups whose leaders are inherited."""
    from pfmon.engine.linux.perf.perf_schedule import PerfScheduler
    from pfmon.engine.linux.perf.pmu_ownership import owners_of

    copies: list[PerfEvent] = []
    own = PerfScheduler(child)
    for leader in schedule.in_order():
        if leader.attributes.flags & INHERIT:
            first = _copy(leader, own, None, child)
            first.siblings = [_copy(one, own, first, child) for one in leader.siblings]
            copies += [first, *first.siblings]
    if not copies:
        return
    owners = owners_of(child)
    if any(event.pmu_event for event in copies):
        owners.take_for_perf()
    owners.schedule = own
    own.begin_in_child(copies)


def _copy(event: PerfEvent, schedule: PerfScheduler, leader: PerfEvent | None, child: Process) -> PerfEvent:
    root = event.root
    copy = PerfEvent(root.id, event.attributes, event.source, leader, child.thread.number, own=False)
    copy.root, copy.file = root, root.file
    copy.is_on, copy.period, copy.left = event.is_on, event.period, event.period
    root.copies.append((schedule, copy))
    return copy


def ended(events: Iterable[PerfEvent]) -> None:
    """Add the totals of an ended process's copies to the opened events."""
    for event in events:
        root = event.root
        if root is not event:
            root.ended = root.ended.plus(event.total)
            root.copies = [one for one in root.copies if one[1] is not event]
