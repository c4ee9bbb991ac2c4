"""What a threads library asks even of a program with one thread."""

from __future__ import annotations

import errno

from pfmon.engine.ia64.linux import waiting
from pfmon.engine.ia64.linux.calls.registry import system_call
from pfmon.engine.ia64.linux.clock import SECOND
from pfmon.engine.ia64.linux.errors import Restart, fail
from pfmon.engine.ia64.linux.structures import ROBUST_LIST_HEAD_SIZE, TIMESPEC, U32, U64
from pfmon.engine.ia64.linux.user import int32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.engine.ia64.linux.process import Process

FUTEX_WAIT, FUTEX_WAKE, FUTEX_REQUEUE, FUTEX_CMP_REQUEUE, FUTEX_WAKE_OP = 0, 1, 3, 4, 5
FUTEX_LOCK_PI, FUTEX_UNLOCK_PI, FUTEX_TRYLOCK_PI = 6, 7, 8
FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET = 9, 10
FUTEX_CLOCK_REALTIME, FUTEX_COMMAND = 0x100, 0x7F


@system_call("set_tid_address")
def set_tid_address(p: Process, address: int) -> int:
    """Nobody waits for this thread to end, so the address is not needed."""
    return p.settings.process_id


@system_call("set_robust_list")
def set_robust_list(p: Process, head: int, size: int) -> int:
    if size != ROBUST_LIST_HEAD_SIZE:
        fail(errno.EINVAL)
    p.robust_list = head
    return 0


@system_call("get_robust_list")
def get_robust_list(p: Process, thread: int, head: int, size: int) -> int:
    if not p.is_own(int32(thread)):
        fail(errno.ESRCH)
    p.user.pack(U64, head, p.robust_list)
    p.user.pack(U64, size, ROBUST_LIST_HEAD_SIZE)
    return 0


@system_call("futex")
def futex(p: Process, address: int, operation: int, value: int, timeout: int, other: int) -> int:
    """There is nobody to wake; a wait ends by a signal or with the time."""
    command = operation & FUTEX_COMMAND & ~0x180
    if address % U32.size:
        fail(errno.EINVAL)
    if command in (FUTEX_WAIT, FUTEX_WAIT_BITSET):
        if p.user.unpack(U32, address)[0] != value & 0xFFFFFFFF:
            fail(errno.EAGAIN)
        return _wait(p, command, operation, timeout)
    if command == FUTEX_CMP_REQUEUE and p.user.unpack(U32, address)[0] != other & 0xFFFFFFFF:
        fail(errno.EAGAIN)
    if command in (FUTEX_WAKE, FUTEX_WAKE_BITSET, FUTEX_REQUEUE, FUTEX_CMP_REQUEUE):
        p.user.read(address, U32.size)
        return 0
    p.notice(f"futex operation {command} is not supported; it returns ENOSYS")
    return fail(errno.ENOSYS)


def _wait(p: Process, command: int, operation: int, timeout: int) -> int:
    nanoseconds = None
    if timeout:
        seconds, ns = p.user.unpack(TIMESPEC, timeout)
        if seconds < 0 or not 0 <= ns < SECOND:
            fail(errno.EINVAL)
        nanoseconds = seconds * SECOND + ns
        if command == FUTEX_WAIT_BITSET:  # a point in time
            real = operation & FUTEX_CLOCK_REALTIME
            nanoseconds -= p.clock.realtime() if real else p.clock.monotonic()
    if waiting.sleep(p, None if nanoseconds is None else max(0, nanoseconds)):
        raise Restart
    return fail(errno.ETIMEDOUT)


@system_call("membarrier")
def membarrier(p: Process, command: int) -> int:
    """One thread is always in order; command 0 asks which others there are."""
    return 0 if int32(command) == 0 else fail(errno.EINVAL)


@system_call("rseq")
def rseq(p: Process) -> int:
    """Restartable sequences: C libraries do without."""
    fail(errno.ENOSYS)


@system_call("getunwind")
def getunwind(p: Process) -> int:
    """The kernel's unwind information, superseded by the gate page: there is none."""
    return 0
