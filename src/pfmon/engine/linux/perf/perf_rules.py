"""Which events and groups perf_event_open accepts (Linux 6.1, kernel/events/core.c), with kernel.perf_event_paranoid at
2, its default. Each check raises OSError as the kernel fails."""

from __future__ import annotations

import errno
from collections.abc import Callable

from pfmon.engine.guest_pmu import ProgramPmu
from pfmon.engine.linux.perf.perf_attributes import (
    EXCLUDE_KERNEL,
    EXCLUSIVE,
    INHERIT,
    PINNED,
    USE_CLOCK,
    PerfEventAttr,
)
from pfmon.engine.linux.perf.perf_event import PerfEvent
from pfmon.engine.linux.perf.perf_samples import READ, SUPPORTED
from pfmon.engine.linux.perf.perf_schedule import PerfScheduler
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.errors import PfmonError

PARANOID = 2
"""kernel.perf_event_paranoid."""
NO_GROUP, OUTPUT, CGROUP, CLOSE_ON_EXEC = 1, 2, 4, 8
CLOCKS = (0, 1, 4, 7, 11)
"""Clocks for sample timestamps: all clocks of this kernel."""


def check_flags(flags: int) -> None:
    """Refuse unknown flags of the call."""
    if flags & ~(NO_GROUP | OUTPUT | CGROUP | CLOSE_ON_EXEC):
        fail(errno.EINVAL)


def check_levels(attributes: PerfEventAttr, flags: int) -> None:
    """Refuse the kernel's level, and control groups."""
    if not attributes.flags & EXCLUDE_KERNEL:
        fail(errno.EACCES)
    if flags & CGROUP:
        fail(errno.EINVAL)


def check_processor(task: int, processor: int, processors: int) -> None:
    """Refuse a processor that is not there, and all tasks of one (perf_event_paranoid)."""
    if not -1 <= processor < processors:
        fail(errno.EINVAL)
    if task == -1:
        fail(errno.EACCES)


def check_samples(attributes: PerfEventAttr, notice: Callable[[str], None]) -> None:
    """Refuse unsupported sample fields."""
    if attributes.sample_type & READ and attributes.flags & INHERIT:
        fail(errno.EINVAL)
    if attributes.sample_type & ~SUPPORTED:
        notice(
            f"perf_event_open: sample_type {attributes.sample_type & ~SUPPORTED:#x} is not supported; it returns "
            "EOPNOTSUPP"
        )
        fail(errno.EOPNOTSUPP)
    if attributes.flags & USE_CLOCK and attributes.clock not in CLOCKS:
        fail(errno.EINVAL)


def check_group(event: PerfEvent, leader: PerfEvent | None, schedule: PerfScheduler) -> None:
    """Check a group: the leader leads itself and has the same task, its members are neither pinned nor exclusive.
    Software events are not sampled here."""
    if leader is not None and event.leader is not event:
        alone = event.attributes.flags & (PINNED | EXCLUSIVE)
        if leader.leader is not leader or alone or leader not in schedule.events or leader.thread != event.thread:
            fail(errno.EINVAL)
    if event.pmu_event is None and event.attributes.samples:
        fail(errno.EOPNOTSUPP)


def check_pmu(pmu: ProgramPmu, schedule: PerfScheduler, event: PerfEvent, notice: Callable[[str], None]) -> None:
    """Check that the event can be counted, and that its group fits on the PMU."""
    assert event.pmu_event
    try:
        event.source = pmu.named(event.pmu_event)
    except PfmonError as error:
        notice(f"perf_event_open: {error}; it returns ENOENT")
        fail(errno.ENOENT)
    members = [event] if event.leader is event else [*event.group, event]
    if not schedule.fits(members):
        fail(errno.EINVAL)
