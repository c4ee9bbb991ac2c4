"""The program's file descriptors: a table of its own, so that the program can close pfmon's numbers."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pfmon.engine.linux.process.random_bytes import RandomBytes
from pfmon.engine.linux.process.syscall_errors import fail

CHUNK = 1 << 20  # bytes moved at a time
RESERVED = 16
"""Host descriptors reserved for pfmon, which loads modules and writes files while programs run."""
STANDARD = (0, 1, 2)


class DirectoryEntry(NamedTuple):
    """A directory entry as getdents64 returns it."""

    inode: int
    kind: int
    name: bytes


class OpenFile:
    """An open file description, shared by duplicated descriptors."""

    def __init__(self, host: int, owned: bool = True, path: bytes = b"", inside: bool = False) -> None:
        """``inside``: the other end belongs to programs of this run only."""
        self.host = host
        self.inside = inside
        self.path = path
        self.owned = owned
        self.references = 0
        self.entries: list[DirectoryEntry] | None = None  # of a directory, since it was last rewound
        self.position = 0  # among the entries
        self._may_wait: bool | None = None  # not known yet
        self.on_release: Callable[[OpenFile], None] | None = None
        """Called before the last reference is released, for lock owners."""

    def acquire(self) -> OpenFile:
        self.references += 1
        return self

    def release(self) -> None:
        """Release one reference; the last one closes the host's descriptor, unless it is pfmon's own."""
        self.references -= 1
        if self.references == 0 and self.on_release:
            self.on_release(self)
        if self.references == 0 and self.owned:
            os.close(self.host)

    def read(self, count: int) -> bytes:
        """Up to count bytes; fewer only at the end of a file, or when a pipe or terminal has no more yet."""
        data = os.read(self.host, min(count, CHUNK))
        if len(data) < CHUNK or len(data) == count:
            return data
        parts = [data]
        left = count - len(data)
        while left and len(parts[-1]) == CHUNK and os.get_blocking(self.host) and self.seekable():
            parts.append(os.read(self.host, min(left, CHUNK)))
            left -= len(parts[-1])
        return b"".join(parts)

    def write(self, data: bytes) -> int:
        return os.write(self.host, data)

    def check_read(self, count: int) -> None:
        """Check a read of this many bytes before it waits; OSError for an invalid one."""

    def before_poll(self) -> None:
        """Called before a wait for readability."""

    def check_mapping(self, length: int, offset: int, shared: bool) -> bool:
        """Whether the file maps in its own way (`NotifyingFile.mapped`). OSError: it cannot be mapped so."""
        return False

    @property
    def may_wait(self) -> bool:
        """Whether reading and writing may block: it is not a regular file."""
        if self._may_wait is None:
            self._may_wait = not stat.S_ISREG(os.fstat(self.host).st_mode)
        return self._may_wait

    def seekable(self) -> bool:
        """Whether the file has a position: it is not a pipe, socket or terminal."""
        try:
            os.lseek(self.host, 0, os.SEEK_CUR)
        except OSError:
            return False
        return True


class RandomFile(OpenFile):
    """/dev/random or /dev/urandom with the program's own random bytes."""

    def __init__(self, host: int, path: bytes, source: RandomBytes) -> None:
        super().__init__(host, True, path)
        self._source = source

    may_wait = False

    def read(self, count: int) -> bytes:
        return self._source.take(min(count, CHUNK))


class Descriptor(NamedTuple):
    """The entry of one descriptor number."""

    file: OpenFile
    close_on_exec: bool


class FileTable:
    """Descriptors by number. 0, 1 and 2 map to the host descriptors in ``standard`` (-1: closed); a number that maps to
    itself is open as on the host."""

    def __init__(
        self, limit: int, standard: Sequence[int] = STANDARD, on_notice: Callable[[str], None] = lambda _: None
    ) -> None:
        self.limit = limit
        self._on_notice = on_notice
        self.on_close: Callable[[OpenFile], None] | None = None
        """Called before a descriptor of a file is closed, for lock owners."""
        self._table: dict[int, Descriptor] = {}
        for number, host in enumerate(standard):
            if host >= 0 and (host != number or _is_inherited(number)):
                self._put(number, Descriptor(OpenFile(host, owned=False), False))

    def _put(self, number: int, descriptor: Descriptor) -> None:
        descriptor.file.acquire()
        self._table[number] = descriptor

    def entry(self, number: int) -> Descriptor:
        """The descriptor of a number, EBADF if there is none."""
        return self._table.get(number) or fail(errno.EBADF)

    def get(self, number: int) -> OpenFile:
        """The open file of a descriptor, EBADF if there is none."""
        return self.entry(number).file

    def host(self, number: int) -> int:
        """The host's descriptor for the program's."""
        return self.get(number).host

    def free(self, lowest: int = 0) -> int:
        """The lowest unused number, EMFILE if there is none below the limit."""
        number = lowest
        while number in self._table:
            number += 1
        return number if number < self.limit else fail(errno.EMFILE)

    def add(self, file: OpenFile, close_on_exec: bool = False, lowest: int = 0) -> int:
        """Assign a number to an open file; if none is free, here or on the host, the file is closed."""
        try:
            number = self.free(lowest)
            self._check_host(file)
        except OSError:
            if file.references == 0:
                file.acquire().release()
            raise
        self._put(number, Descriptor(file, close_on_exec))
        return number

    def _check_host(self, file: OpenFile) -> None:
        """EMFILE for a file with one of the host's last descriptors."""
        if file.owned and file.host >= programs_descriptors():
            self._on_notice("the program has as many files open as the host allows pfmon (ulimit -n); it may have more")
            fail(errno.EMFILE)

    def replace(self, number: int, file: OpenFile, close_on_exec: bool) -> int:
        """Make a given number refer to the file (dup2)."""
        if not 0 <= number < self.limit:
            fail(errno.EBADF)
        old = self._table.get(number)
        self._put(number, Descriptor(file, close_on_exec))
        if old is not None:
            self._release(old.file)
        return number

    def set_close_on_exec(self, number: int, value: bool) -> None:
        self._table[number] = Descriptor(self.get(number), value)

    def close(self, number: int) -> None:
        file = self.get(number)
        del self._table[number]
        self._release(file)

    def _release(self, file: OpenFile) -> None:
        if self.on_close:
            self.on_close(file)
        file.release()

    def numbers(self) -> list[int]:
        """The numbers in use, ascending."""
        return sorted(self._table)

    def fork(self) -> FileTable:
        """A copy for a child: its own descriptors of the same open files."""
        other = FileTable(self.limit, (), self._on_notice)
        for number, descriptor in self._table.items():
            other._put(number, descriptor)
        return other

    def close_on_exec(self) -> None:
        """Close the descriptors marked close-on-exec."""
        for number, descriptor in list(self._table.items()):
            if descriptor.close_on_exec:
                self.close(number)

    def close_all(self) -> None:
        for number in self.numbers():
            self.close(number)


def programs_descriptors() -> int:
    """The number below which host descriptors are for programs."""
    limit = os.sysconf("SC_OPEN_MAX")
    return limit - RESERVED if limit >= 0 else 1 << 30


def _is_inherited(number: int) -> bool:
    """Whether a descriptor is open and inheritable; pfmon's own files are not inheritable."""
    try:
        return os.get_inheritable(number)
    except OSError:
        return False
