"""ptrace: a tracer accesses the memory of a stopped process and resumes it."""

from __future__ import annotations

import errno

from pfmon.engine.guest_memory import GuestMemoryFault
from pfmon.engine.linux.abi.structures import U64
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.signals.signal_table import LAST, SIGKILL, SIGSTOP
from pfmon.engine.linux.signals.signals import SI_USER

PTRACE_TRACEME, PTRACE_PEEKTEXT, PTRACE_PEEKDATA, PTRACE_POKETEXT, PTRACE_POKEDATA = 0, 1, 2, 4, 5
PTRACE_CONT, PTRACE_KILL, PTRACE_ATTACH, PTRACE_DETACH = 7, 8, 16, 17


@system_call("ptrace")
def ptrace(p: Process, request: int, process_id: int, address: int, data: int) -> int:
    """The requests that start, resume and end tracing, and those on memory. Those on registers are missing (EIO)."""
    what = int32(request)
    if what == PTRACE_TRACEME:
        return _trace(p.family.parent or fail(errno.EPERM), p)
    target = p.system.processes.get(int32(process_id)) or fail(errno.ESRCH)
    if what == PTRACE_ATTACH:
        if target is p:
            fail(errno.EPERM)
        _trace(p, target)
        target.send(p.own_signal(SIGSTOP, SI_USER))
        return 0
    if target.family.tracer is not p:
        fail(errno.ESRCH)
    if what == PTRACE_KILL:
        target.send(p.own_signal(SIGKILL, SI_USER))
        return 0
    if not target.family.stopped:
        fail(errno.ESRCH)
    if what in (PTRACE_PEEKTEXT, PTRACE_PEEKDATA):
        return _peek(p, target, address)
    if what in (PTRACE_POKETEXT, PTRACE_POKEDATA):
        return _poke(target, address, data)
    if what in (PTRACE_CONT, PTRACE_DETACH):
        return _resume(p, target, data, what == PTRACE_DETACH)
    return fail(errno.EIO)


def _trace(tracer: Process, target: Process) -> int:
    if target.family.tracer is not None:
        fail(errno.EPERM)
    target.family.tracer = tracer
    tracer.family.traced.append(target)
    target.signals.shared.traced = True
    return 0


def _peek(p: Process, target: Process, address: int) -> int:
    """The word itself is the result."""
    try:
        return int(target.user.unpack(U64, address)[0])
    except GuestMemoryFault:
        return fail(errno.EIO)


def _poke(target: Process, address: int, data: int) -> int:
    try:
        target.memory.write_initial(address, U64.pack(data))
    except GuestMemoryFault:
        fail(errno.EIO)
    return 0


def _resume(p: Process, target: Process, number: int, detach: bool) -> int:
    """Resume, with the signal that stopped it, another one, or none (0)."""
    if not 0 <= number <= LAST:
        fail(errno.EIO)
    stopped_for, target.family.injected = target.family.injected, None
    if detach:
        p.family.traced.remove(target)
        target.family.tracer = None
        target.signals.shared.traced = False
    if number:
        same = stopped_for is not None and stopped_for.number == number
        signal = stopped_for if same and stopped_for is not None else p.own_signal(number, SI_USER)
        if not detach:
            target.family.injected = signal
        target.thread.signals.put_back(signal)
    target.go_on(report=False)
    return 0
