"""The record locks of one file: byte ranges with owners (fcntl(2)), and their mirror on the host's file.

This table separates the programs of the run, which are one process on the host; a lock of an open file description
(F_OFD_SETLK) with the union of the programs' locks separates them from other host processes.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from pfmon.engine.linux.abi.structures import FLOCK
from pfmon.engine.linux.files import host_files
from pfmon.engine.linux.files.file_table import OpenFile
from pfmon.engine.linux.process.process import Process

BEYOND = 1 << 63
"""The end of a lock up to the end of the file."""
F_RDLCK, F_WRLCK, F_UNLCK = 0, 1, 2
F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW = 36, 37, 38


class Lock(NamedTuple):
    """Bytes [start, end); its owner is a process, or an open file description (F_OFD_SETLK)."""

    start: int
    end: int
    exclusive: bool
    owner: Process | OpenFile

    def meets(self, start: int, end: int) -> bool:
        """Whether it overlaps a range."""
        return self.start < end and start < self.end


class RecordLocks:
    """The record locks of one file. ``host``: a descriptor of it."""

    def __init__(self, host: int) -> None:
        self.locks: list[Lock] = []
        self._host = _opened_again(host)

    def blocking(self, wanted: Lock) -> Lock | None:
        """The first conflicting lock of another owner; None: none in this run."""
        others = (one for one in self.locks if one.owner is not wanted.owner and one.meets(wanted.start, wanted.end))
        found = [one for one in others if one.exclusive or wanted.exclusive]
        return min(found, key=lambda one: one.start, default=None)

    def blocking_outside(self, wanted: Lock) -> bytes | None:
        """The struct flock of a conflicting lock of another host process."""
        if self._host < 0:
            return None
        try:
            found = fcntl.fcntl(self._host, F_OFD_GETLK, _packed(wanted.start, wanted.end, _kind(wanted.exclusive)))
        except OSError:
            return None
        return None if FLOCK.unpack(found)[0] == F_UNLCK else found

    def set(self, wanted: Lock) -> None:
        """Set the owner's lock in place of its old locks on these bytes, merged with adjacent ones. OSError: another
        host process has a conflicting lock."""
        kept, joined = [], wanted
        for one in sorted(self._without(wanted), key=lambda one: one.start):
            is_alike = one.owner is wanted.owner and one.exclusive == wanted.exclusive
            if is_alike and one.start <= joined.end and joined.start <= one.end:
                joined = joined._replace(start=min(one.start, joined.start), end=max(one.end, joined.end))
            else:
                kept.append(one)
        self._become([*kept, joined], wanted.start, wanted.end)

    def clear(self, given: Lock) -> None:
        """Release the owner's locks on these bytes."""
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
        """Set the host's lock, which may fail, and then the table."""
        try:
            for piece in _together(locks, start, end):
                self._notify_host(*piece)
        except OSError:
            for piece in _together(self.locks, start, end):
                self._notify_host(*piece)
            raise
        self.locks = locks

    def _notify_host(self, start: int, end: int, kind: int) -> None:
        if self._host < 0:
            return
        try:
            fcntl.fcntl(self._host, F_OFD_SETLK, _packed(start, end, kind))
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise
            # a file system without locks, or a file that cannot be reopened: locks hold within the run only

    def close(self) -> None:
        """Release all locks."""
        if self._host >= 0:
            os.close(self._host)
            self._host = -1


def _together(locks: list[Lock], start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The union of all owners' locks in a range: start, end and kind of each part."""
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
    """A second open file description, for reading and writing if allowed; -1: the file cannot be reopened."""
    own = host_files.flags(host) & os.O_ACCMODE
    for access in (os.O_RDWR, own):
        try:
            return os.open(f"/proc/self/fd/{host}", access | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            continue
    return -1
