"""The process as a whole: prctl, personality, perf events, and calls that are not permitted."""

from __future__ import annotations

import errno

from pfmon.engine.linux.abi.structures import U32
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail

NAME_SIZE = 16
PR_GET_DUMPABLE, PR_SET_DUMPABLE, PR_SET_NAME, PR_GET_NAME = 3, 4, 15, 16
PR_GET_UNALIGN, PR_SET_UNALIGN, PR_GET_FPEMU, PR_SET_FPEMU = 5, 6, 9, 10
PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_GET_NO_NEW_PRIVS, PR_SET_NO_NEW_PRIVS = 1, 2, 39, 38
ACCEPTED = (PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_FPEMU, PR_SET_NO_NEW_PRIVS)
ZERO_WORDS = (PR_GET_PDEATHSIG, PR_GET_FPEMU)  # written to the address in the second argument
PR_UNALIGN_NOPRINT, PR_UNALIGN_SIGBUS = 1, 2
PR_DISABLE_EVENTS, PR_ENABLE_EVENTS = 31, 32
QUERY_PERSONALITY = 0xFFFFFFFF


@system_call("prctl")
def prctl(p: Process, option: int, argument: int) -> int:
    what = int32(option)
    if what == PR_SET_NAME:
        p.thread.name = p.user.read(argument, p.user.prefix(argument, NAME_SIZE, 1)).split(b"\0")[0][: NAME_SIZE - 1]
        return 0
    if what == PR_GET_NAME:
        p.user.write(argument, p.thread.name.ljust(NAME_SIZE, b"\0"))
        return 0
    if what in ZERO_WORDS:
        p.user.pack(U32, argument, 0)
        return 0
    if what == PR_SET_UNALIGN:
        return _set_unaligned(p, int32(argument))
    if what in (PR_DISABLE_EVENTS, PR_ENABLE_EVENTS):
        if p.owners is not None:
            p.owners.switch_events(what == PR_ENABLE_EVENTS)
        return 0
    if what == PR_GET_UNALIGN:
        p.user.pack(U32, argument, p.unaligned)
        return 0
    if what == PR_GET_DUMPABLE:
        return 1
    if what in ACCEPTED or what == PR_GET_NO_NEW_PRIVS:
        return 0
    return fail(errno.EINVAL)


def _set_unaligned(p: Process, mode: int) -> int:
    """Set how unaligned references end: completed, with or without a notice, or SIGBUS."""
    if mode & ~(PR_UNALIGN_NOPRINT | PR_UNALIGN_SIGBUS):
        fail(errno.EINVAL)
    if not p.abi.trap_unaligned(p.registers, bool(mode & PR_UNALIGN_SIGBUS)):
        fail(errno.EINVAL)
    p.unaligned = mode
    return 0


@system_call("personality")
def personality(p: Process, persona: int) -> int:
    return 0 if persona & 0xFFFFFFFF in (0, QUERY_PERSONALITY) else fail(errno.EINVAL)


@system_call("reboot", "mount", "umount2", "settimeofday", "clock_settime", "sethostname")
def not_permitted(p: Process) -> int:
    """Calls of the superuser only."""
    fail(errno.EPERM)


@system_call("perf_event_open")
def perf_event_open(p: Process, attributes: int, task: int, processor: int, group: int, flags: int) -> int:
    from pfmon.engine.linux.perf import perf_open

    return perf_open.perf_event_open(p, attributes, int32(task), int32(processor), int32(group), flags)
