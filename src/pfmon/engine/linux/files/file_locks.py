"""File locks between the processes of a run: owners, waiting, deadlocks, release (fcntl(2), flock(2)).

Record locks belong to a process, or with F_OFD_SETLK to an open file description; flock's to a description. A wait for
another process of the run ends when it releases its lock; a deadlock is detected.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Set
from typing import NamedTuple, NoReturn

from pfmon.engine.linux.abi.structures import FLOCK
from pfmon.engine.linux.files import host_files
from pfmon.engine.linux.files.file_table import OpenFile
from pfmon.engine.linux.files.record_locks import BEYOND, F_RDLCK, F_UNLCK, F_WRLCK, Lock, RecordLocks
from pfmon.engine.linux.process import blocking_calls
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import Restart, fail
from pfmon.engine.linux.process.system import System
from pfmon.engine.linux.process.thread import Blocked, Thread, Wait

File = tuple[int, int]
"""Device and inode."""
OF_DESCRIPTION = -1
"""The process that F_GETLK names for a lock of an open file description."""


class _LockWait(NamedTuple):
    """A thread waits for a lock of a file held by ``owner``; ``records``: for one of records of its process."""

    file: File
    owner: Process | OpenFile
    records: bool


class FileLocks:
    """All file locks of a run."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._records: dict[File, RecordLocks] = {}
        self._whole: dict[File, dict[OpenFile, bool]] = {}
        """By file: its flock holders, and whether each is exclusive."""
        self._waiting: dict[Thread, _LockWait] = {}

    # --- record locks

    def query(self, file: OpenFile, given: bytes, owner: Process | OpenFile) -> bytes:
        """F_GETLK: the conflicting lock, as struct flock; else the given one as F_UNLCK. EINVAL: for F_UNLCK."""
        if FLOCK.unpack(given)[0] == F_UNLCK:
            fail(errno.EINVAL)
        wanted = _wanted(file, given, owner)
        locks = self._of(file)
        found = locks.blocking(wanted)
        outside = None if found else locks.blocking_outside(wanted)
        self._forget_empty(file)
        if found:
            holder = OF_DESCRIPTION if isinstance(found.owner, OpenFile) else found.owner.process_id
            size = 0 if found.end == BEYOND else found.end - found.start
            return FLOCK.pack(F_WRLCK if found.exclusive else F_RDLCK, os.SEEK_SET, found.start, size, holder)
        return outside or FLOCK.pack(F_UNLCK, *FLOCK.unpack(given)[1:])

    def set(self, p: Process, file: OpenFile, given: bytes, owner: Process | OpenFile, waits: bool) -> None:
        """F_SETLK, and F_SETLKW (``waits``). OSError: EAGAIN, EDEADLK, EBADF, EINVAL."""
        self._waiting.pop(p.thread, None)
        kind = FLOCK.unpack(given)[0]
        wanted = _wanted(file, given, owner)
        if kind != F_UNLCK:
            _check_access(file, kind)
            blocking = self._of(file).blocking(wanted)
            if blocking and not waits:
                fail(errno.EAGAIN)
            if blocking:
                self._wait(p, file, blocking.owner, records=isinstance(owner, type(p)))
        p.files.on_close = p.files.on_close or (lambda closed: self._closed_by(p, closed))
        if isinstance(owner, OpenFile):
            owner.on_release = self._released
        locks = self._of(file)
        try:
            locks.clear(wanted) if kind == F_UNLCK else locks.set(wanted)
        except OSError:
            self._forget_empty(file)
            if not waits:
                fail(errno.EAGAIN)
            blocking_calls.come_again(p, "for a lock of a file")
        if kind != F_WRLCK:
            self._wake(_file(file))
        self._forget_empty(file)

    def _of(self, file: OpenFile) -> RecordLocks:
        return self._records.get(_file(file)) or self._records.setdefault(_file(file), RecordLocks(file.host))

    def _forget_empty(self, file: OpenFile) -> None:
        found = self._records.get(_file(file))
        if found is not None and not found.locks:
            found.close()
            del self._records[_file(file)]

    def _drop(self, file: OpenFile, owner: Process | OpenFile) -> None:
        """Release all records of a file held by an owner."""
        found = self._records.get(_file(file))
        if found is not None and any(one.owner is owner for one in found.locks):
            found.clear(Lock(0, BEYOND, False, owner))
            self._wake(_file(file))
            self._forget_empty(file)

    # --- whole files

    def flock(self, p: Process, file: OpenFile, operation: int, waits: bool) -> None:
        """LOCK_SH, LOCK_EX or LOCK_UN. A held lock of another kind is released first, even if the call then waits
        (flock(2))."""
        self._waiting.pop(p.thread, None)
        holders = self._whole.setdefault(_file(file), {})
        alone = operation == fcntl.LOCK_EX
        if operation == fcntl.LOCK_UN or holders.get(file, alone) != alone:
            fcntl.flock(file.host, fcntl.LOCK_UN)
            self._give_up(file)
        if operation == fcntl.LOCK_UN:
            return
        holders = self._whole.setdefault(_file(file), {})
        for other, other_alone in holders.items():
            if other is not file and (alone or other_alone):
                if not waits:
                    fail(errno.EAGAIN)
                self._wait(p, file, other, records=False)
        file.on_release = self._released
        attempt = operation | fcntl.LOCK_NB
        if waits:
            blocking_calls.until_granted(p, lambda: fcntl.flock(file.host, attempt))
        else:
            fcntl.flock(file.host, attempt)
        holders[file] = alone

    def _give_up(self, file: OpenFile) -> None:
        """Release a description's lock within the run."""
        holders = self._whole.get(_file(file), {})
        if holders.pop(file, None) is not None:
            self._wake(_file(file))
        if not holders:
            self._whole.pop(_file(file), None)

    # --- waiting, and ends

    def _wait(self, p: Process, file: OpenFile, owner: Process | OpenFile, records: bool) -> NoReturn:
        """Wait for the release of a lock of the file. EDEADLK: its owner waits for a lock of this process."""
        p.fire_timers()
        if p.signals.interrupting():
            raise Restart
        if records and self._leads_to(owner, p, frozenset()):
            fail(errno.EDEADLK)
        self._waiting[p.thread] = _LockWait(_file(file), owner, records)
        text = "for a lock of a file"
        if not isinstance(owner, OpenFile):
            text += f" that process {owner.process_id} has"
        raise Blocked(Wait(text))

    def _leads_to(self, owner: Process | OpenFile, p: Process, seen: Set[int]) -> bool:
        """Whether the owner of a record lock is a process, or waits for that process."""
        if owner is p:
            return True
        if id(owner) in seen:
            return False
        waits = [one for thread, one in self._waiting.items() if one.records and thread.process is owner]
        return any(self._leads_to(one.owner, p, {*seen, id(owner)}) for one in waits)

    def _wake(self, file: File) -> None:
        """Wake waiters after locks of a file were released: each tries again."""
        for thread in [thread for thread, one in self._waiting.items() if one.file == file]:
            self._system.schedule.wake(thread)

    def _closed_by(self, p: Process, file: OpenFile) -> None:
        """Release a process's records of a file when it closes any descriptor of it."""
        for thread in [thread for thread in self._waiting if thread.process is p and p.is_over]:
            del self._waiting[thread]
        self._drop(file, p)

    def _released(self, file: OpenFile) -> None:
        """Release the locks of a description whose last descriptor in the run is closed; closing the host's releases
        the host's lock, unless other host processes share it."""
        self._drop(file, file)
        if file in self._whole.get(_file(file), {}):
            self._give_up(file)


def _file(file: OpenFile) -> File:
    status = os.fstat(file.host)
    return status.st_dev, status.st_ino


def _wanted(file: OpenFile, given: bytes, owner: Process | OpenFile) -> Lock:
    """The byte range of a struct flock. EINVAL, EOVERFLOW."""
    kind, whence, start, length, process_id = FLOCK.unpack(given)
    if kind not in (F_RDLCK, F_WRLCK, F_UNLCK) or (process_id and isinstance(owner, OpenFile)):
        fail(errno.EINVAL)
    if whence == os.SEEK_CUR:
        start += os.lseek(file.host, 0, os.SEEK_CUR)
    elif whence == os.SEEK_END:
        start += os.fstat(file.host).st_size
    elif whence != os.SEEK_SET:
        fail(errno.EINVAL)
    first, end = (start + length, start) if length < 0 else (start, start + length if length else BEYOND)
    if first < 0:
        fail(errno.EINVAL)
    if end > BEYOND:
        fail(errno.EOVERFLOW)
    return Lock(first, end, kind == F_WRLCK, owner)


def _check_access(file: OpenFile, kind: int) -> None:
    """Check the access mode: a read lock needs a readable file, a write lock a writable one."""
    access = host_files.flags(file.host) & os.O_ACCMODE
    if access == (os.O_RDONLY if kind == F_WRLCK else os.O_WRONLY):
        fail(errno.EBADF)
