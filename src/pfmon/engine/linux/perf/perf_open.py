"""perf_event_open (Linux 6.1, kernel/events/core.c): valid events and groups.

Real machines returned ENOSYS: no Linux for IA-64 had perf events. Programs find Linux's interface of other
architectures, with kernel.perf_event_paranoid at 2, its default.
"""

from __future__ import annotations

import errno

from pfmon.engine.linux.perf.perf_attributes import (
    EXCLUDE_KERNEL,
    EXCLUSIVE,
    INHERIT,
    PINNED,
    USE_CLOCK,
    PerfEventAttr,
    read_attributes,
)
from pfmon.engine.linux.perf.perf_event import PerfEvent
from pfmon.engine.linux.perf.perf_file import PerfFile
from pfmon.engine.linux.perf.perf_samples import READ, SUPPORTED
from pfmon.engine.linux.perf.perf_schedule import PerfScheduler
from pfmon.engine.linux.perf.perf_sources import source_of
from pfmon.engine.linux.perf.pmu_ownership import owners_of
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.process.thread import Thread
from pfmon.errors import PfmonError

NO_GROUP, OUTPUT, CGROUP, CLOSE_ON_EXEC = 1, 2, 4, 8
CLOCKS = (0, 1, 4, 7, 11)
"""Clocks for sample timestamps: all clocks of this kernel."""


def perf_event_open(process: Process, address: int, task: int, processor: int, group: int, flags: int) -> int:
    """The descriptor of a new event. OSError as the kernel fails; ENOENT, with a notice, for events that cannot be
    counted."""
    if flags & ~(NO_GROUP | OUTPUT | CGROUP | CLOSE_ON_EXEC):
        fail(errno.EINVAL)
    attributes = read_attributes(process.user, address)
    if not attributes.flags & EXCLUDE_KERNEL:
        fail(errno.EACCES)
    if flags & CGROUP:
        fail(errno.EINVAL)
    process.files.free()
    leader = _leader(process, group)
    thread = _target(process, task, processor)
    target = thread.process
    _check_samples(process, attributes)
    owners = owners_of(target)
    if owners.schedule is None:
        owners.schedule = PerfScheduler(target)
    schedule = owners.schedule
    source, leads = source_of(attributes), None if flags & NO_GROUP else leader
    event = PerfEvent(process.system.perf_events + 1, attributes, source, leads, thread.number, target is process)
    _check_group(event, leader, schedule)
    if event.pmu_event:
        _check_pmu(target, schedule, event)
    if flags & OUTPUT and leader:
        event.ring = leader.ring
    event.file = PerfFile(process, event, schedule)
    event.file.number = process.files.add(event.file, bool(flags & CLOSE_ON_EXEC))
    process.system.perf_events = event.id
    schedule.add(event)
    return event.file.number


def _leader(process: Process, group: int) -> PerfEvent | None:
    if group == -1:
        return None
    file = process.files.get(group)
    return file.event if isinstance(file, PerfFile) else fail(errno.EBADF)


def _target(process: Process, task: int, processor: int) -> Thread:
    """The thread to monitor, in any process of the run, on any processor or on the single one."""
    if task == -1 and processor == -1:
        fail(errno.EINVAL)
    thread = process.system.thread(task) if task > 0 else process.thread
    if thread is None or task < -1:
        fail(errno.ESRCH)
    if not -1 <= processor < process.settings.processors:
        fail(errno.EINVAL)
    if task == -1:
        fail(errno.EACCES)  # all tasks of a processor: perf_event_paranoid
    return thread


def _check_samples(process: Process, attributes: PerfEventAttr) -> None:
    """Refuse unsupported sample fields."""
    if attributes.sample_type & READ and attributes.flags & INHERIT:
        fail(errno.EINVAL)
    if attributes.sample_type & ~SUPPORTED:
        process.notice(
            f"perf_event_open: sample_type {attributes.sample_type & ~SUPPORTED:#x} is not supported; it returns "
            "EOPNOTSUPP"
        )
        fail(errno.EOPNOTSUPP)
    if attributes.flags & USE_CLOCK and attributes.clock not in CLOCKS:
        fail(errno.EINVAL)


def _check_group(event: PerfEvent, leader: PerfEvent | None, schedule: PerfScheduler) -> None:
    """Check a group: the leader leads itself and has the same task, its members are neither pinned nor exclusive.
    Software events are not sampled here."""
    if leader is not None and event.leader is not event:
        alone = event.attributes.flags & (PINNED | EXCLUSIVE)
        if leader.leader is not leader or alone or leader not in schedule.events or leader.thread != event.thread:
            fail(errno.EINVAL)
    if event.pmu_event is None and event.attributes.samples:
        fail(errno.EOPNOTSUPP)


def _check_pmu(process: Process, schedule: PerfScheduler, event: PerfEvent) -> None:
    """Check that the event can be counted, and that its group fits on the PMU."""
    owners_of(process).take_for_perf()
    assert process.pmu and event.pmu_event
    try:
        event.source = process.pmu.named(event.pmu_event)
    except PfmonError as error:
        process.notice(f"perf_event_open: {error}; it returns ENOENT")
        fail(errno.ENOENT)
    members = [event] if event.leader is event else [*event.group, event]
    if not schedule.fits(members):
        fail(errno.EINVAL)
