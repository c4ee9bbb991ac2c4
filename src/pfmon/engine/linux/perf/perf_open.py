"""perf_event_open in the emulated kernel.

Real machines returned ENOSYS: no Linux for IA-64 had perf events. Programs find Linux's interface of other
architectures, with kernel.perf_event_paranoid at 2, its default.
"""

from __future__ import annotations

import errno

from pfmon.engine.linux.perf import perf_rules
from pfmon.engine.linux.perf.kernel_process import KernelProcess
from pfmon.engine.linux.perf.perf_attributes import read_attributes
from pfmon.engine.linux.perf.perf_event import PerfEvent
from pfmon.engine.linux.perf.perf_file import PerfFile, event_of_file
from pfmon.engine.linux.perf.perf_schedule import PerfScheduler
from pfmon.engine.linux.perf.perf_sources import source_of
from pfmon.engine.linux.perf.pmu_ownership import owners_of
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.process.thread import Thread


def perf_event_open(process: Process, address: int, task: int, processor: int, group: int, flags: int) -> int:
    """The descriptor of a new event. OSError as the kernel fails; ENOENT, with a notice, for events that cannot be
    counted."""
    perf_rules.check_flags(flags)
    attributes = read_attributes(process.user, address)
    perf_rules.check_levels(attributes, flags)
    process.files.free()
    leader = None if group == -1 else event_of_file(process, group)
    thread = _target(process, task, processor)
    target = thread.process
    perf_rules.check_samples(attributes, process.notice)
    owners = owners_of(target)
    if owners.schedule is None:
        owners.schedule = PerfScheduler(KernelProcess(target))
    schedule = owners.schedule
    source, leads = source_of(attributes), None if flags & perf_rules.NO_GROUP else leader
    event = PerfEvent(process.system.perf_events + 1, attributes, source, leads, thread.number, target is process)
    perf_rules.check_group(event, leader, schedule)
    if event.pmu_event:
        owners.take_for_perf()
        assert target.pmu
        perf_rules.check_pmu(target.pmu, schedule, event, process.notice)
    if flags & perf_rules.OUTPUT and leader:
        event.ring = leader.ring
    event.file = PerfFile(process, event, schedule)
    event.file.number = process.files.add(event.file, bool(flags & perf_rules.CLOSE_ON_EXEC))
    process.system.perf_events = event.id
    schedule.add(event)
    return event.file.number


def _target(process: Process, task: int, processor: int) -> Thread:
    """The thread to monitor, in any process of the run, on any processor or on the single one."""
    if task == -1 and processor == -1:
        fail(errno.EINVAL)
    thread = process.system.thread(task) if task > 0 else process.thread
    if thread is None or task < -1:
        fail(errno.ESRCH)
    perf_rules.check_processor(task, processor, process.settings.processors)
    return thread
