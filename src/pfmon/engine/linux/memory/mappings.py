"""File mappings (mmap): read when mapped; changes of shared ones are written back to the file.

They are written back at msync, munmap and process exit, and before a program of the run reads or writes the file by
other means; such writes also appear in the mappings. Shared mappings of one file, in one process or several, have the
same pages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pfmon.engine.guest_memory import Memory
from pfmon.engine.linux.files.code_files import CodeFiles
from pfmon.engine.linux.files.file_table import OpenFile

PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
PIECE = 1 << 20


def rights_text(protection: int) -> str:
    """Rights as /proc/PID/maps shows them: r-x."""
    return "".join(c if protection & b else "-" for c, b in zip("rwx", (PROT_READ, PROT_WRITE, PROT_EXEC), strict=True))


class FileMapping(NamedTuple):
    """Addresses [start, end) map a file from offset on. saved: the bytes last known to be in the file; code: its number
    among files that may contain code, 0: not executable."""

    start: int
    end: int
    file: OpenFile
    offset: int
    shared: bool
    protection: int
    saved: bytes
    code: int = 0


class Mappings:
    """All file mappings of a process; their regions are mapped in memory already."""

    def __init__(self, memory: Memory, everyone: Callable[[], Sequence[Mappings]] | None = None) -> None:
        """``everyone``: the mappings of all processes of the run."""
        self._memory = memory
        self._everyone = everyone or (lambda: [self])
        self._page = memory.page_size
        self._all: list[FileMapping] = []
        self.code = CodeFiles()

    def add(self, start: int, length: int, file: OpenFile, offset: int, shared: bool, protection: int) -> None:
        """Fill mapped pages from a file. Pages wholly beyond its end are inaccessible: SIGBUS."""
        end = start + length
        self.before_access(file)
        load = self._load_around if shared else self._load
        loaded = load(start, end, file, offset)
        if loaded < end:
            self._memory.protect(loaded, end - loaded, 0)
        saved = _in_file(file, offset, loaded - start) if shared else b""
        file.acquire()
        code = self.code.number(start, end, file, offset) if protection & PROT_EXEC else 0
        self._all.append(FileMapping(start, end, file, offset, shared, protection, saved, code))
        if code:
            self.publish_code()

    def _load_around(self, start: int, end: int, file: OpenFile, offset: int) -> int:
        """Share the pages that are mapped shared already, and read the others; returns the end of the last page of the
        file."""
        at = start
        rights = next(rights for low, high, rights in self._memory.regions_map() if low <= start < high)
        for low, high, other, theirs in self._shared_already(file, offset, offset + end - start):
            first, beyond = start + low - offset, start + high - offset
            self._load(at, first, file, offset + at - start)
            self._memory.unmap(first, beyond - first)
            self._memory.adopt(first, other, theirs, beyond - first, rights)
            at = beyond
        self._load(at, end, file, offset + at - start)
        left = max(0, os.fstat(file.host).st_size - offset)
        return min(end, start + (left + self._page - 1 & -self._page))

    def _shared_already(self, file: OpenFile, low: int, high: int) -> list[tuple[int, int, Memory, int]]:
        """Parts of a file that a process has mapped shared, sorted and disjoint: start and end in the file, the memory,
        and the start there."""
        status = os.fstat(file.host)
        found = [
            (max(low, m.offset), min(high, m.offset + m.end - m.start), one._memory, m)
            for one in self._everyone()
            for m in one._all
            if m.shared and os.path.samestat(os.fstat(m.file.host), status)
        ]
        parts: list[tuple[int, int, Memory, int]] = []
        at = low
        for first, beyond, memory, m in sorted(found, key=lambda part: part[0]):
            first = max(first, at)
            if first < beyond:
                parts.append((first, beyond, memory, m.start + first - m.offset))
                at = beyond
        return parts

    def fork(self, memory: Memory) -> Mappings:
        """A copy for a child, with its copy of the memory."""
        other = Mappings(memory, self._everyone)
        other._all = list(self._all)
        for mapping in other._all:
            mapping.file.acquire()
        other.code = self.code.fork()
        return other

    def publish_code(self) -> None:
        """Publish a change of the files that may contain code."""
        self.code.publish_code([(m.start, m.end, m.code) for m in self._all if m.code])

    def _load(self, start: int, end: int, file: OpenFile, offset: int) -> int:
        """Read the file's bytes into memory; returns the end of the last page that has some."""
        at = start
        while at < end:
            data = os.pread(file.host, min(PIECE, end - at), offset + at - start)
            if not data:
                break
            self._memory.write_initial(at, data)
            at += len(data)
        return min(end, (at + self._page - 1) & -self._page)

    def grow(self, address: int) -> bool:
        """Load the page of a mapping that was beyond the file's end, if it no longer is. False: SIGBUS."""
        for i, m in enumerate(self._all):
            if m.start <= address < m.end:
                page = address & -self._page
                size = os.fstat(m.file.host).st_size
                if m.offset + page - m.start >= size or self._accessible(page):
                    return False
                end = min(m.end, page + self._page)
                self._memory.protect(page, end - page, m.protection)
                self._load(page, end, m.file, m.offset + page - m.start)
                saved = m.saved.ljust(page - m.start, b"\0") + self._memory.read(page, end - page)
                self._all[i] = m._replace(saved=saved if m.shared else b"")
                return True
        return False

    def _accessible(self, page: int) -> bool:
        return any(low <= page < high and allowed for low, high, allowed in self._memory.regions_map())

    def beyond_file(self, address: int) -> bool:
        """Whether an inaccessible address is in a mapping but beyond its file's end."""
        return any(
            m.start <= address < m.end and m.offset + (address & -self._page) - m.start >= os.fstat(m.file.host).st_size
            for m in self._all
        )

    def at(self, address: int) -> FileMapping | None:
        return next((m for m in self._all if m.start <= address < m.end), None)

    def reload(self, start: int, end: int) -> bool:
        """MADV_DONTNEED: reload private mappings in a range from their files. False: no file is mapped there."""
        found = [m for m in self._all if m.start < end and start < m.end]
        for m in found:
            if not m.shared:
                low, high = max(m.start, start), min(m.end, end)
                self._load(low, high, m.file, m.offset + low - m.start)
        return bool(found)

    def remove(self, start: int, end: int) -> None:
        """Drop mappings of a range that is unmapped or replaced, after writing shared changes back."""
        self.write_back(start, end)
        kept = []
        for m in self._all:
            if m.end <= start or end <= m.start:
                kept.append(m)
                continue
            if m.start < start:
                kept.append(self._part(m, m.start, start))
            if end < m.end:
                kept.append(self._part(m, end, m.end))
            m.file.release()
        had_code = any(m.code and m.start < end and start < m.end for m in self._all)
        self._all = kept
        if had_code:
            self.publish_code()

    def _part(self, m: FileMapping, start: int, end: int) -> FileMapping:
        m.file.acquire()
        saved = m.saved[start - m.start : end - m.start]
        return m._replace(start=start, end=end, offset=m.offset + start - m.start, saved=saved)

    def protect(self, start: int, end: int, protection: int) -> None:
        """Note a protection change by mprotect."""
        for i, m in enumerate(self._all):
            if m.start < end and start < m.end:
                fresh = protection & PROT_EXEC and not m.code
                code = self.code.number(m.start, m.end, m.file, m.offset) if fresh else m.code
                self._all[i] = m._replace(protection=m.protection | protection, code=code)
                if fresh:
                    self.publish_code()

    def write_back(self, start: int = 0, end: int = 1 << 64) -> None:
        """Write changes of shared mappings in a range to their files, up to the file's end."""
        for i, m in enumerate(self._all):
            if m.shared and m.protection & PROT_WRITE and m.start < end and start < m.end:
                self._all[i] = m._replace(saved=self._store(m))

    def _store(self, m: FileMapping) -> bytes:
        """Write the changed pages; returns the bytes that memory holds now."""
        size = os.fstat(m.file.host).st_size
        now = self._read_any(m.start, len(m.saved))
        for at in range(0, len(now), self._page):
            piece = now[at : at + self._page]
            if piece != m.saved[at : at + self._page]:
                os.pwrite(m.file.host, piece[: max(0, size - m.offset - at)], m.offset + at)
        return now

    def _read_any(self, start: int, length: int) -> bytes:
        """Read memory regardless of protection."""
        parts = []
        end = start + length
        for low, high, allowed in self._memory.regions_map():
            low, high = max(low, start), min(high, end)
            if low < high:
                if not allowed & PROT_READ:
                    self._memory.protect(low, high - low, allowed | PROT_READ)
                parts.append(self._memory.read(low, high - low))
                if not allowed & PROT_READ:
                    self._memory.protect(low, high - low, allowed)
        return b"".join(parts)

    def shares(self, file: OpenFile) -> bool:
        """Whether a shared mapping of this file exists."""
        if not any(m.shared for m in self._all):
            return False
        status = os.fstat(file.host)
        return any(m.shared and os.path.samestat(os.fstat(m.file.host), status) for m in self._all)

    def before_access(self, file: OpenFile) -> None:
        """Write changes back before the program reads or writes the file by other means."""
        for one in self._everyone():
            if one._all and one.shares(file):
                one.write_back()

    def after_write(self, file: OpenFile) -> None:
        """Update the mappings after the program wrote to the file by other means."""
        for one in self._everyone():
            one._show(file)

    def _show(self, file: OpenFile) -> None:
        if not self._all or not self.shares(file):
            return
        status = os.fstat(file.host)
        for i, m in enumerate(self._all):
            if m.shared and os.path.samestat(os.fstat(m.file.host), status):
                self._load(m.start, m.start + len(m.saved), m.file, m.offset)
                self._all[i] = m._replace(saved=self._read_any(m.start, len(m.saved)))

    def close(self) -> None:
        """Write back and drop all mappings at process exit."""
        self.write_back()
        for m in self._all:
            m.file.release()
        self._all = []


def _in_file(file: OpenFile, offset: int, length: int) -> bytes:
    """The contents of a file, zero-filled beyond its end."""
    parts, at = [], 0
    while at < length and (data := os.pread(file.host, min(PIECE, length - at), offset + at)):
        parts.append(data)
        at += len(data)
    return b"".join(parts).ljust(length, b"\0")
