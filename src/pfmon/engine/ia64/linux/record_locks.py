"""The record locks of one file: stretches of bytes and who has them (fcntl(2)), and the same on the host's file.

Programs of the run are kept apart by this table, as they are one process of the host's; other processes of the host by
a lock of an open file description (F_OFD_SETLK), which has what all programs of the run together have.
"""

from __future__ import annotations

import errno
import fcntl
import os
from itertools import pairwise

from pfmon.engine.ia64.linux import host_files
from pfmon.engine.ia64.linux.structures import FLOCK
from pfmon.light_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from pfmon.engine.ia64.linux.files import OpenFile
    from pfmon.engine.ia64.linux.process import Process

BEYOND = 1 << 63
"""The end of a lock that reaches beyond every end of the file."""
F_RDLCK, F_WRLCK, F_UNLCK = 0, 1, 2
F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW = 36, 37, 38


class Lock(NamedTuple):
    """Bytes [start, end); its owner is a process, or an open file description (F_OFD_SETLK)."""

    start: int
    end: int
    exclusive: bool
    owner: Process | OpenFile

    def meets(self, start: int, end: int) -> bool:
        """Whether it has a byte of a stretch."""
        return self.start < end and start < self.end


class RecordLocks:
    """Those of one file. ``host``: a descriptor of it."""

    def __init__(self, host: int) -> None:
        self.locks: list[Lock] = []
        self._host = _opened_again(host)

    def blocking(self, wanted: Lock) -> Lock | None:
        """The first lock of somebody else that keeps a lock away; None: none of this run does."""
        others = (one for one in self.locks if one.owner is not wanted.owner and one.meets(wanted.start, wanted.end))
        found = [one for one in others if one.exclusive or wanted.exclusive]
        return min(found, key=lambda one: one.start, default=None)

    def blocking_outside(self, wanted: Lock) -> bytes | None:
        """The struct flock of a lock of another process of the host's that keeps a lock away."""
        if self._host < 0:
            return None
        try:
            found = fcntl.fcntl(self._host, F_OFD_GETLK, _packed(wanted.start, wanted.end, _kind(wanted.exclusive)))
        except OSError:
            return None
        return None if FLOCK.unpack(found)[0] == F_UNLCK else found

    def set(self, wanted: Lock) -> None:
        """Let the owner have this instead of what it has of these bytes, and as one with what it has beside them.
        OSError: another process of the host's has it."""
        kept, joined = [], wanted
        for one in sorted(self._without(wanted), key=lambda one: one.start):
            is_alike = one.owner is wanted.owner and one.exclusive == wanted.exclusive
            if is_alike and one.start <= joined.end and joined.start <= one.end:
                joined = joined._replace(start=min(one.start, joined.start), end=max(one.end, joined.end))
            else:
                kept.append(one)
        self._become([*kept, joined], wanted.start, wanted.end)

    def clear(self, given: Lock) -> None:
        """The owner has none of these bytes any more."""
        self._become(self._without(given), given.start, given.end)

    def _without(self, gone: Lock) -> list[Lock]:
        kept: list[Lock] = []
        for one in self.locks:
            if one.owner is not gone.owner or not one.meets(gone.start, gone.end):
                kept.append(one)
                continue
            if one.start < gone.start:
                kept.append(one._replace(end=gone.start))
            if gone.end < one.end:
                kept.append(one._replace(start=gone.end))
        return kept

    def _become(self, locks: list[Lock], start: int, end: int) -> None:
        """The host's lock first, which may not be had."""
        try:
            for piece in _together(locks, start, end):
                self._tell_host(*piece)
        except OSError:
            for piece in _together(self.locks, start, end):
                self._tell_host(*piece)
            raise
        self.locks = locks

    def _tell_host(self, start: int, end: int, kind: int) -> None:
        if self._host < 0:
            return
        try:
            fcntl.fcntl(self._host, F_OFD_SETLK, _packed(start, end, kind))
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise
            # a file system without locks, or a file that cannot be opened so: they hold within the run

    def close(self) -> None:
        """Nobody has any."""
        if self._host >= 0:
            os.close(self._host)
            self._host = -1


def _together(locks: list[Lock], start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """What all owners together have of a stretch: start, end and kind of each part."""
    edges = {start, end, *(edge for one in locks for edge in one[:2] if start < edge < end)}
    ordered = sorted(edges)
    for first, beyond in pairwise(ordered):
        kinds = [one.exclusive for one in locks if one.meets(first, beyond)]
        yield first, beyond, _kind(any(kinds)) if kinds else F_UNLCK


def _kind(exclusive: bool) -> int:
    return F_WRLCK if exclusive else F_RDLCK


def _packed(start: int, end: int, kind: int) -> bytes:
    return FLOCK.pack(kind, os.SEEK_SET, start, 0 if end == BEYOND else end - start, 0)


def _opened_again(host: int) -> int:
    """An open file description of its own, for reading and writing if that is allowed; -1: the file cannot be opened
    again."""
    own = host_files.flags(host) & os.O_ACCMODE
    for access in (os.O_RDWR, own):
        try:
            return os.open(f"/proc/self/fd/{host}", access | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            continue
    return -1
