"""Futexes: words of memory that threads wait on (futex(2)), and the robust lists of ended threads.

A word is identified by its address space and address, one of shared memory by its host address.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from pfmon.engine.guest_memory import GuestMemoryFault
from pfmon.engine.linux.abi.structures import ROBUST_LIST_HEAD, U32, U64
from pfmon.engine.linux.process.syscall_errors import Restart, fail
from pfmon.engine.linux.process.thread import Blocked, Thread, Wait

if TYPE_CHECKING:
    from pfmon.engine.linux.process.process import Process


ANY = 0xFFFFFFFF
WAITERS, OWNER_DIED, THREAD = 0x80000000, 0x40000000, 0x3FFFFFFF
"""Bits of the word of a lock with a known owner (FUTEX_WAITERS, FUTEX_OWNER_DIED, FUTEX_TID_MASK)."""
MAX_ROBUST_FUTEXES = 2048
"""Locks of a list that are processed, at most, as in Linux (ROBUST_LIST_LIMIT)."""

Key = tuple[int, int]


def _key(process: Process, address: int) -> Key:
    if address % U32.size:
        fail(errno.EINVAL)
    process.user.read(address, U32.size)
    if process.memory.is_shared(address):
        return 0, process.memory.place(address)
    return process.process_id, address


def word(process: Process, address: int) -> int:
    """The value of a word."""
    return int(process.user.unpack(U32, address)[0])


def wait(process: Process, address: int, bits: int, deadline: int | None) -> int:
    """Wait until the word is woken (0), a signal arrives (Restart), or the deadline passes (ETIMEDOUT). The word's
    value is not compared here. ``deadline``: of the monotonic clock."""
    thread = process.thread
    if thread.wait is None:
        key = _key(process, address)
        process.system.futexes.setdefault(key, []).append((thread, bits))
        raise Blocked(Wait(f"for the futex at {address:#x}", deadline=deadline))
    if thread.wait.woken:
        return 0
    _leave(process, thread)
    if process.signals.interrupting():
        raise Restart
    return fail(errno.ETIMEDOUT)


def _leave(process: Process, thread: Thread) -> None:
    """Remove a thread from the waiters of all words."""
    futexes = process.system.futexes
    for key, waiters in list(futexes.items()):
        kept = [one for one in waiters if one[0] is not thread]
        if len(kept) < len(waiters):
            _store(process, key, kept)


def _store(process: Process, key: Key, waiters: list[tuple[Thread, int]]) -> None:
    if waiters:
        process.system.futexes[key] = waiters
    else:
        process.system.futexes.pop(key, None)


def forget(process: Process) -> None:
    """Forget the threads of a process."""
    futexes = process.system.futexes
    for key, waiters in list(futexes.items()):
        _store(process, key, [one for one in waiters if one[0].process is not process])


def wake(process: Process, address: int, most: int, bits: int = ANY) -> int:
    """Wake up to ``most`` waiters of the word with one of these bits, in order of arrival; returns their number."""
    key = _key(process, address)
    kept: list[tuple[Thread, int]] = []
    woken = 0
    for thread, wanted in process.system.futexes.get(key, []):
        if woken < most and wanted & bits:
            woken += 1
            _wake(process, thread)
        else:
            kept.append((thread, wanted))
    _store(process, key, kept)
    return woken


def _wake(process: Process, thread: Thread) -> None:
    assert thread.wait
    thread.wait.woken = True
    process.system.schedule.wake(thread)


def requeue(process: Process, address: int, other: int, most_woken: int, most_moved: int) -> tuple[int, int]:
    """Wake some waiters of a word, and move some of the rest to another one; returns both numbers."""
    woken = wake(process, address, most_woken)
    key, to = _key(process, address), _key(process, other)
    waiters = process.system.futexes.get(key, [])
    moved, kept = waiters[:most_moved], waiters[most_moved:]
    if key != to:
        _store(process, key, kept)
        if moved:
            process.system.futexes.setdefault(to, []).extend(moved)
    return woken, len(moved)


# Priority-inheritance locks: the word is the owner's number, with WAITERS when a thread waits (FUTEX_LOCK_PI).


def lock(process: Process, address: int, deadline: int | None, attempt: bool) -> int:
    """Acquire the lock, or wait until it is handed over; ``attempt``: do not wait (EAGAIN)."""
    thread, held = process.thread, word(process, address)
    if thread.wait is not None:
        return wait(process, address, ANY, None)
    if held & THREAD == thread.number:
        fail(errno.EDEADLK)
    if held & THREAD == 0:
        process.user.pack(U32, address, thread.number | held & (WAITERS | OWNER_DIED))
        return 0
    if attempt:
        fail(errno.EAGAIN)
    if process.system.thread(held & THREAD) is None:
        fail(errno.ESRCH)
    process.user.pack(U32, address, held | WAITERS)
    return wait(process, address, ANY, deadline)


def unlock(process: Process, address: int) -> int:
    """Hand the lock over to the longest waiter, or free it. EPERM: another thread owns it."""
    if word(process, address) & THREAD != process.thread.number:
        fail(errno.EPERM)
    transfer(process, address, 0)
    return 0


def transfer(process: Process, address: int, died: int) -> None:
    """Make the longest waiter the lock's owner; without one the lock is free. ``died``: OWNER_DIED, or 0."""
    waiters = process.system.futexes.get(_key(process, address), [])
    if not waiters:
        process.user.pack(U32, address, died)
        return
    more = WAITERS if len(waiters) > 1 else 0
    process.user.pack(U32, address, waiters[0][0].number | more | died)
    wake(process, address, 1)


def give_up_robust_list(process: Process, thread: Thread) -> None:
    """Release the robust locks of an ending thread: waiters see OWNER_DIED (set_robust_list)."""
    if not thread.robust_list:
        return
    try:
        entry, offset, pending = process.user.unpack(ROBUST_LIST_HEAD, thread.robust_list)
        for _ in range(MAX_ROBUST_FUTEXES):
            if entry & ~1 == thread.robust_list:
                break
            following = process.user.unpack(U64, entry & ~1)[0]
            if entry != pending:
                _die_with(process, thread, entry, offset)
            entry = following
        if pending:
            _die_with(process, thread, pending, offset)
    except (GuestMemoryFault, OSError):
        pass  # a damaged list: Linux also stops there


def _die_with(process: Process, thread: Thread, entry: int, offset: int) -> None:
    """Mark one lock's owner as dead; bit 0 of the entry: a priority-inheritance lock."""
    address = (entry & ~1) + offset & (1 << 64) - 1
    held = word(process, address)
    if held & THREAD != thread.number:
        return
    if entry & 1:
        transfer(process, address, OWNER_DIED)
        return
    process.user.pack(U32, address, held & WAITERS | OWNER_DIED)
    if held & WAITERS:
        wake(process, address, 1)
