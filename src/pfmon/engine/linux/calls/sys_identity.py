"""Identity of the process and the machine: process, user and group ids, the system's name, processors, memory."""

from __future__ import annotations

import errno

from pfmon.engine.linux.abi.structures import SYSINFO, U32, U64, UTSNAME
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.time.clock import SECOND

UNCHANGED = -1


@system_call("getpid")
def getpid(p: Process) -> int:
    return p.process_id


@system_call("gettid")
def gettid(p: Process) -> int:
    return p.thread.number


@system_call("getppid")
def getppid(p: Process) -> int:
    return p.family.parent_id


@system_call("getuid", "geteuid")
def getuid(p: Process) -> int:
    return p.settings.user_id


@system_call("getgid", "getegid")
def getgid(p: Process) -> int:
    return p.settings.group_id


@system_call("getresuid")
def getresuid(p: Process, real: int, effective: int, saved: int) -> int:
    for address in (real, effective, saved):
        p.user.pack(U32, address, p.settings.user_id)
    return 0


@system_call("getresgid")
def getresgid(p: Process, real: int, effective: int, saved: int) -> int:
    for address in (real, effective, saved):
        p.user.pack(U32, address, p.settings.group_id)
    return 0


@system_call("getgroups")
def getgroups(p: Process, size: int, groups: int) -> int:
    """The process is in its own group only."""
    if int32(size) < 0:
        fail(errno.EINVAL)
    if int32(size) > 0:
        p.user.pack(U32, groups, p.settings.group_id)
    return 1


def _become(own: int, ids: tuple[int, ...]) -> int:
    """Set an id: succeeds only without a change."""
    if any(int32(i) not in (own, UNCHANGED) for i in ids):
        fail(errno.EPERM)
    return 0


@system_call("setuid")
def setuid(p: Process, user: int) -> int:
    return _become(p.settings.user_id, (user,))


@system_call("setreuid")
def setreuid(p: Process, real: int, effective: int) -> int:
    return _become(p.settings.user_id, (real, effective))


@system_call("setresuid")
def setresuid(p: Process, real: int, effective: int, saved: int) -> int:
    return _become(p.settings.user_id, (real, effective, saved))


@system_call("setgid")
def setgid(p: Process, group: int) -> int:
    return _become(p.settings.group_id, (group,))


@system_call("setregid")
def setregid(p: Process, real: int, effective: int) -> int:
    return _become(p.settings.group_id, (real, effective))


@system_call("setresgid")
def setresgid(p: Process, real: int, effective: int, saved: int) -> int:
    return _become(p.settings.group_id, (real, effective, saved))


@system_call("setgroups")
def setgroups(p: Process) -> int:
    fail(errno.EPERM)


def _process(p: Process, number: int) -> Process:
    """A process by number, 0: the caller; ESRCH if there is none."""
    return p.system.processes.get(number) or fail(errno.ESRCH) if number else p


@system_call("getpgid")
def getpgid(p: Process, process_id: int) -> int:
    return _process(p, int32(process_id)).family.group


@system_call("getsid")
def getsid(p: Process, process_id: int) -> int:
    return _process(p, int32(process_id)).family.session


@system_call("setpgid")
def setpgid(p: Process, process_id: int, group: int) -> int:
    """Move the caller, or a child that has not executed a program, to a new group or to one of the session."""
    wanted = int32(group)
    if wanted < 0:
        fail(errno.EINVAL)
    target = _process(p, int32(process_id))
    own = target.family
    if target is not p and own.parent is not p:
        fail(errno.ESRCH)
    if target is not p and own.executed:
        fail(errno.EACCES)
    if own.session == own.process_id or own.session != p.family.session:
        fail(errno.EPERM)
    wanted = wanted or own.process_id
    others = [one.family for one in p.system.processes.values()]
    if wanted != own.process_id and not any(f.group == wanted and f.session == own.session for f in others):
        fail(errno.EPERM)
    own.group = wanted
    return 0


@system_call("setsid")
def setsid(p: Process) -> int:
    """A group's leader cannot start a session."""
    if any(one.family.group == p.process_id for one in p.system.processes.values()):
        fail(errno.EPERM)
    p.family.group = p.family.session = p.process_id
    return p.process_id


@system_call("uname")
def uname(p: Process, buffer: int) -> int:
    s = p.settings
    fields = ("Linux", s.host_name, s.release, "#1 SMP", p.abi.machine, "(none)")
    p.user.pack(UTSNAME, buffer, *(f.encode()[:64] for f in fields))
    return 0


@system_call("sysinfo")
def sysinfo(p: Process, buffer: int) -> int:
    total = p.settings.memory
    uptime = p.clock.monotonic() // SECOND
    loads = (0, 0, 0)
    p.user.pack(SYSINFO, buffer, uptime, *loads, total, total // 2, 0, 0, 0, 0, 1, 0, 0, 0, 1)
    return 0


@system_call("sched_getaffinity")
def sched_getaffinity(p: Process, process_id: int, size: int, mask: int) -> int:
    if not p.is_own(int32(process_id)):
        fail(errno.ESRCH)
    if size < U64.size or size % U64.size:
        fail(errno.EINVAL)
    p.user.pack(U64, mask, (1 << p.settings.processors) - 1)
    return U64.size


@system_call("sched_setaffinity")
def sched_setaffinity(p: Process, process_id: int, size: int, mask: int) -> int:
    if not p.is_own(int32(process_id)):
        fail(errno.ESRCH)
    wanted = int.from_bytes(p.user.read(mask, min(size, 128)), "little")
    return 0 if wanted & 1 else fail(errno.EINVAL)


@system_call("getcpu")
def getcpu(p: Process, processor: int, node: int) -> int:
    for address in (processor, node):
        if address:
            p.user.pack(U32, address, 0)
    return 0


@system_call("getrandom")
def getrandom(p: Process, buffer: int, count: int, flags: int) -> int:
    if int32(flags) & ~7:
        fail(errno.EINVAL)
    usable = p.user.buffer(buffer, min(count, 1 << 20), 2)
    p.user.write(buffer, p.random.take(usable))
    return usable
