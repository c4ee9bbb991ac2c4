"""File locks: record locks (fcntl) and flock."""

from __future__ import annotations

import errno
import fcntl as host_fcntl

from pfmon.engine.linux.abi.structures import FLOCK
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.files.file_locks import FileLocks
from pfmon.engine.linux.files.file_table import OpenFile
from pfmon.engine.linux.files.record_locks import F_OFD_GETLK, F_OFD_SETLKW
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail

F_GETLK, F_SETLK, F_SETLKW = 5, 6, 7


def records(p: Process, file: OpenFile, command: int, address: int) -> int:
    """Record locks of the process, or of the open file description (F_OFD_...); struct flock is the same on every
    64-bit Linux."""
    given = p.user.read(address, FLOCK.size)
    owner = file if F_OFD_GETLK <= command <= F_OFD_SETLKW else p
    if command in (F_GETLK, F_OFD_GETLK):
        p.user.write(address, _locks(p).query(file, given, owner))
    else:
        _locks(p).set(p, file, given, owner, command in (F_SETLKW, F_OFD_SETLKW))
    return 0


@system_call("flock")
def flock(p: Process, fd: int, operation: int) -> int:
    file, wanted = p.files.get(int32(fd)), int32(operation)
    kind = wanted & ~host_fcntl.LOCK_NB
    if kind not in (host_fcntl.LOCK_SH, host_fcntl.LOCK_EX, host_fcntl.LOCK_UN):
        fail(errno.EINVAL)
    _locks(p).flock(p, file, kind, not wanted & host_fcntl.LOCK_NB)
    return 0


def _locks(p: Process) -> FileLocks:
    system = p.system
    locks: FileLocks = system.file_locks or FileLocks(system)
    system.file_locks = locks
    return locks
