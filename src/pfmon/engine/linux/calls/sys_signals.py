"""Signals: actions, masks, sending, waiting, the alternate stack."""

from __future__ import annotations

import errno

from pfmon.engine.linux.abi.structures import INT, SIGALTSTACK, SIGINFO_SIZE, U64
from pfmon.engine.linux.calls.sys_time import duration
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process import blocking_calls
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import Terminated, fail
from pfmon.engine.linux.process.thread import Thread
from pfmon.engine.linux.signals import signal_delivery
from pfmon.engine.linux.signals.signal_table import LAST, SIGKILL, SIGSTOP
from pfmon.engine.linux.signals.signals import SI_TKILL, SI_USER, SS_DISABLE, SS_ONSTACK, UNBLOCKABLE, Signal

SIGSET_SIZE = 8
SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK = 0, 1, 2


def _check_size(size: int) -> None:
    if size != SIGSET_SIZE:
        fail(errno.EINVAL)


def _number(value: int, zero: bool = False) -> int:
    number = int32(value)
    return number if (0 if zero else 1) <= number <= LAST else fail(errno.EINVAL)


@system_call("rt_sigaction")
def rt_sigaction(p: Process, signal: int, new: int, old: int, size: int) -> int:
    _check_size(size)
    number = _number(signal)
    action = p.abi.read_action(p.user, new) if new else None
    if action is not None and number in (SIGKILL, SIGSTOP):
        fail(errno.EINVAL)
    if old:
        p.abi.write_action(p.user, old, p.signals.action(number))
    if action is not None:
        p.signals.set_action(number, action._replace(mask=action.mask & ~UNBLOCKABLE))
    return 0


@system_call("rt_sigprocmask")
def rt_sigprocmask(p: Process, how: int, new: int, old: int, size: int) -> int:
    _check_size(size)
    before = p.signals.blocked
    if new:
        mask = p.user.unpack(U64, new)[0]
        changed = {SIG_BLOCK: before | mask, SIG_UNBLOCK: before & ~mask, SIG_SETMASK: mask}.get(int32(how))
        p.signals.set_blocked(changed if changed is not None else fail(errno.EINVAL))
    if old:
        p.user.pack(U64, old, before)
    return 0


@system_call("rt_sigpending")
def rt_sigpending(p: Process, address: int, size: int) -> int:
    if size > SIGSET_SIZE:
        fail(errno.EINVAL)
    pending = p.signals.pending & p.signals.blocked
    p.user.write(address, U64.pack(pending)[:size])
    return 0


@system_call("rt_sigsuspend")
def rt_sigsuspend(p: Process, mask: int, size: int) -> int:
    _check_size(size)
    new = p.user.unpack(U64, mask)[0]
    if p.thread.wait is None:
        p.signals.saved_mask = p.signals.blocked
        p.signals.set_blocked(new)
    blocking_calls.sleep(p, None)
    return fail(errno.EINTR)


@system_call("rt_sigtimedwait")
def rt_sigtimedwait(p: Process, mask: int, info: int, timeout: int, size: int) -> int:
    _check_size(size)
    wanted = p.user.unpack(U64, mask)[0] & ~UNBLOCKABLE
    nanoseconds = duration(p, timeout) if timeout else None
    signal = p.signals.take(wanted)
    if signal is None:
        interrupted = blocking_calls.sleep(p, nanoseconds, wanted)
        signal = p.signals.take(wanted)
        if signal is None:
            fail(errno.EINTR if interrupted else errno.EAGAIN)
    if info:
        p.user.write(info, signal.info.ljust(SIGINFO_SIZE, b"\0"))
    return signal.number


def _meant(p: Process, process_id: int) -> list[Process]:
    """The target processes of kill(2): a number, 0 or below a group, -1 all but the caller. ESRCH: none."""
    everyone = list(p.system.processes.values())
    if process_id > 0:
        found = [one for one in everyone if one.process_id == process_id]
    elif process_id == -1:
        found = [one for one in everyone if one is not p] or [p]
    else:
        group = -process_id or p.family.group
        found = [one for one in everyone if one.family.group == group]
    if not found and not any(ended.process_id == process_id for ended in p.family.ended):
        fail(errno.ESRCH)
    return found


@system_call("kill")
def kill(p: Process, process_id: int, signal: int) -> int:
    number = _number(signal, zero=True)
    for target in _meant(p, int32(process_id)):
        if number:
            target.send(p.own_signal(number, SI_USER))
    return 0


def _thread(p: Process, process_id: int, thread: int) -> Thread:
    """A thread of a process (0: of any process). ESRCH: none."""
    found = p.system.thread(thread)
    if found is None or process_id not in (0, found.process.process_id):
        fail(errno.ESRCH)
    return found


@system_call("tkill")
def tkill(p: Process, thread: int, signal: int) -> int:
    return _send_to_thread(p, 0, int32(thread), _number(signal, zero=True))


@system_call("tgkill")
def tgkill(p: Process, process_id: int, thread: int, signal: int) -> int:
    number = _number(signal, zero=True)
    if int32(process_id) <= 0:
        fail(errno.EINVAL)
    return _send_to_thread(p, int32(process_id), int32(thread), number)


def _send_to_thread(p: Process, process_id: int, thread: int, number: int) -> int:
    if thread <= 0:
        fail(errno.EINVAL)
    target = _thread(p, process_id, thread)
    if number:
        target.process.send(p.own_signal(number, SI_TKILL), target)
    return 0


@system_call("rt_sigqueueinfo")
def rt_sigqueueinfo(p: Process, process_id: int, signal: int, info: int) -> int:
    number = _number(signal, zero=True)
    data = p.user.read(info, SIGINFO_SIZE)
    for target in _meant(p, int32(process_id) if int32(process_id) > 0 else fail(errno.ESRCH)):
        if number:
            target.send(Signal(number, INT.pack(number) + data[INT.size :]))
    return 0


@system_call("rt_tgsigqueueinfo")
def rt_tgsigqueueinfo(p: Process, process_id: int, thread: int, signal: int, info: int) -> int:
    number = _number(signal, zero=True)
    data = p.user.read(info, SIGINFO_SIZE)
    target = _thread(p, int32(process_id), int32(thread))
    if number:
        target.process.send(Signal(number, INT.pack(number) + data[INT.size :]), target)
    return 0


@system_call("sigaltstack")
def sigaltstack(p: Process, new: int, old: int) -> int:
    pointer = p.abi.stack_pointer(p.registers)
    address, _, size = p.signals.stack
    before = (address, p.signals.stack_flags(pointer), size)
    if new:
        address, flags, size = p.user.unpack(SIGALTSTACK, new)
        if p.signals.on_stack(pointer):
            fail(errno.EPERM)
        if flags not in (0, SS_ONSTACK, SS_DISABLE):
            fail(errno.EINVAL)
        if flags == SS_DISABLE:
            address, size = 0, 0
        elif size < p.abi.smallest_signal_stack:
            fail(errno.ENOMEM)
        p.signals.stack = (address, flags & SS_DISABLE, size)
    if old:
        p.user.pack(SIGALTSTACK, old, *before)
    return 0


@system_call("rt_sigreturn")
def rt_sigreturn(p: Process) -> None:
    """Restore all registers from the frame; the call has no result of its own."""
    end = signal_delivery.sigreturn(p)
    if end is not None:
        raise Terminated(end)
