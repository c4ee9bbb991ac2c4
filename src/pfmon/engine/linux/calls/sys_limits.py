"""Resource limits, resource usage and priorities."""

from __future__ import annotations

import errno

from pfmon.engine.linux.abi.structures import INT, RLIMIT, RUSAGE
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process import rlimits
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.time.clock import SECOND

RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD = 0, -1, 1
HIGHEST_NICE = 19


def _get(p: Process, which: int, address: int) -> None:
    p.user.pack(RLIMIT, address, *p.limits.get(which))


def _set(p: Process, which: int, address: int) -> None:
    soft, hard = p.user.unpack(RLIMIT, address)
    if soft > hard:
        fail(errno.EINVAL)
    if hard > p.limits.get(which)[1]:
        fail(errno.EPERM)
    p.limits.set(which, soft, hard)
    p.files.limit = p.limits.open_files()


def _which(value: int) -> int:
    return value if 0 <= value < rlimits.COUNT else fail(errno.EINVAL)


@system_call("getrlimit")
def getrlimit(p: Process, which: int, address: int) -> int:
    _get(p, _which(int32(which)), address)
    return 0


@system_call("setrlimit")
def setrlimit(p: Process, which: int, address: int) -> int:
    _set(p, _which(int32(which)), address)
    return 0


@system_call("prlimit64")
def prlimit64(p: Process, process_id: int, which: int, new: int, old: int) -> int:
    number = _which(int32(which))
    if not p.is_own(int32(process_id)):
        fail(errno.ESRCH)
    before = p.limits.get(number)
    if new:
        _set(p, number, new)
    if old:
        p.user.pack(RLIMIT, old, *before)
    return 0


@system_call("getrusage")
def getrusage(p: Process, who: int, address: int) -> int:
    """All time is user time; there are no page faults and no context switches."""
    if int32(who) not in (RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD):
        fail(errno.EINVAL)
    used = {
        RUSAGE_SELF: p.clock.processor(),
        RUSAGE_CHILDREN: p.family.used_by_children,
        RUSAGE_THREAD: p.time_of(p.thread),
    }[int32(who)]
    p.user.pack(RUSAGE, address, used // SECOND, used % SECOND // 1000, *[0] * 16)
    return 0


@system_call("getpriority")
def getpriority(p: Process, which: int, who: int) -> int:
    """Nice value 0, as Linux encodes it."""
    return 20 if 0 <= int32(which) <= 2 else fail(errno.EINVAL)


@system_call("setpriority")
def setpriority(p: Process, which: int, who: int, value: int) -> int:
    if not 0 <= int32(which) <= 2:
        fail(errno.EINVAL)
    return 0 if int32(value) >= 0 else fail(errno.EACCES)


@system_call("sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min")
def sched_other(p: Process) -> int:
    """SCHED_OTHER is policy 0 with the only priority 0."""
    return 0


@system_call("sched_setscheduler")
def sched_setscheduler(p: Process, process_id: int, policy: int) -> int:
    return 0 if int32(policy) == 0 else fail(errno.EPERM)


@system_call("sched_getparam")
def sched_getparam(p: Process, process_id: int, address: int) -> int:
    p.user.pack(INT, address, 0)
    return 0


@system_call("sched_setparam")
def sched_setparam(p: Process, process_id: int, address: int) -> int:
    return 0 if p.user.unpack(INT, address)[0] == 0 else fail(errno.EINVAL)


@system_call("sched_yield")
def sched_yield(p: Process) -> int:
    p.system.schedule.yield_turn()
    return 0
