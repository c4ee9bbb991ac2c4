"""Threads: creation and exit, futexes, calls of thread libraries."""

from __future__ import annotations

import errno

from pfmon.engine.linux.abi.structures import ROBUST_LIST_HEAD, TIMESPEC, U64
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.memory.user_memory import int32, signed
from pfmon.engine.linux.process import futexes
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.time.clock import SECOND

FUTEX_CMP_REQUEUE, FUTEX_LOCK_PI, FUTEX_TRYLOCK_PI, FUTEX_WAIT_BITSET = 4, 6, 8, 9
FUTEX_PRIVATE, FUTEX_CLOCK_REALTIME = 0x80, 0x100
FUTEX_COMMAND = ~(FUTEX_PRIVATE | FUTEX_CLOCK_REALTIME)


@system_call("set_tid_address")
def set_tid_address(p: Process, address: int) -> int:
    p.thread.clear_child_tid = address
    return p.thread.number


@system_call("set_robust_list")
def set_robust_list(p: Process, head: int, size: int) -> int:
    if size != ROBUST_LIST_HEAD.size:
        fail(errno.EINVAL)
    p.thread.robust_list = head
    return 0


@system_call("get_robust_list")
def get_robust_list(p: Process, thread: int, head: int, size: int) -> int:
    number = int32(thread)
    found = p.system.thread(number) if number else p.thread
    if found is None:
        fail(errno.ESRCH)
    p.user.pack(U64, head, found.robust_list)
    p.user.pack(U64, size, ROBUST_LIST_HEAD.size)
    return 0


@system_call("futex")
def futex(p: Process, address: int, operation: int, value: int, timeout: int, other: int, bits: int) -> int:
    """``timeout`` is a count in operations that requeue or wake a second word."""
    command = int32(operation) & FUTEX_COMMAND
    count = max(0, int32(value))
    match command:
        case 0 | 9:  # FUTEX_WAIT, FUTEX_WAIT_BITSET
            return _wait(p, address, operation, value & futexes.ANY, timeout, bits)
        case 1:  # FUTEX_WAKE
            return futexes.wake(p, address, count)
        case 10:  # FUTEX_WAKE_BITSET
            return futexes.wake(p, address, count, bits & futexes.ANY or fail(errno.EINVAL))
        case 3 | 4:  # FUTEX_REQUEUE, FUTEX_CMP_REQUEUE
            if command == FUTEX_CMP_REQUEUE and futexes.word(p, address) != bits & futexes.ANY:
                fail(errno.EAGAIN)
            woken, moved = futexes.requeue(p, address, other, count, max(0, int32(timeout)))
            return woken + moved if command == FUTEX_CMP_REQUEUE else woken
        case 5:  # FUTEX_WAKE_OP
            return _wake_op(p, address, count, max(0, int32(timeout)), other, bits)
        case 6 | 8 | 13:  # FUTEX_LOCK_PI, FUTEX_TRYLOCK_PI, FUTEX_LOCK_PI2
            real = command == FUTEX_LOCK_PI or bool(operation & FUTEX_CLOCK_REALTIME)
            deadline = None if command == FUTEX_TRYLOCK_PI else _deadline(p, timeout, real, True)
            return futexes.lock(p, address, deadline, command == FUTEX_TRYLOCK_PI)
        case 7:  # FUTEX_UNLOCK_PI
            return futexes.unlock(p, address)
    p.notice(f"futex operation {command} is not supported; it returns ENOSYS")
    return fail(errno.ENOSYS)


def _deadline(p: Process, timeout: int, real: bool, absolute: bool) -> int | None:
    """The end of a wait, by the monotonic clock."""
    if not timeout:
        return None
    seconds, ns = p.user.unpack(TIMESPEC, timeout)
    if seconds < 0 or not 0 <= ns < SECOND:
        fail(errno.EINVAL)
    at = int(seconds * SECOND + ns)
    now = p.clock.monotonic()
    if absolute:
        return now + at - p.clock.realtime() if real else at
    return now + at


def _wait(p: Process, address: int, operation: int, value: int, timeout: int, bits: int) -> int:
    absolute = int32(operation) & FUTEX_COMMAND == FUTEX_WAIT_BITSET
    wanted = bits & futexes.ANY if absolute else futexes.ANY
    if not wanted:
        fail(errno.EINVAL)
    deadline = None
    if p.thread.wait is None:
        deadline = _deadline(p, timeout, bool(operation & FUTEX_CLOCK_REALTIME), absolute)
        if address % 4:
            fail(errno.EINVAL)
        if futexes.word(p, address) != value:
            fail(errno.EAGAIN)
    return futexes.wait(p, address, wanted, deadline)


def _wake_op(p: Process, address: int, most: int, most_others: int, other: int, code: int) -> int:
    """Change the other word, wake waiters of the first one and, if the comparison of the old value holds, of the
    other."""
    operation, comparison = code >> 28 & 7, code >> 24 & 15
    operand, limit = signed(code >> 12, 12), signed(code, 12)
    if code >> 28 & 8:
        operand = 1 << (operand & 31)
    old = futexes.word(p, other)
    changed = {0: operand, 1: old + operand, 2: old | operand, 3: old & ~operand, 4: old ^ operand}.get(operation)
    held = signed(old, 32)
    found = {
        0: held == limit,
        1: held != limit,
        2: held < limit,
        3: held <= limit,
        4: held > limit,
        5: held >= limit,
    }.get(comparison)
    if changed is None or found is None:
        fail(errno.ENOSYS)
    p.user.write(other, (changed & futexes.ANY).to_bytes(4, "little"))
    woken = futexes.wake(p, address, most)
    return woken + (futexes.wake(p, other, most_others) if found else 0)


@system_call("membarrier")
def membarrier(p: Process, command: int) -> int:
    """Threads run in turn on one processor, so memory is in order. Command 0 returns the supported commands."""
    return 0 if int32(command) == 0 else fail(errno.EINVAL)


@system_call("rseq")
def rseq(p: Process) -> int:
    """Restartable sequences: none."""
    fail(errno.ENOSYS)
