"""Memory: brk, mmap and related calls."""

from __future__ import annotations

import errno
import os
import stat

from pfmon.engine.guest_memory import GuestMemoryFault, GuestMemoryLimit
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.files.file_table import OpenFile
from pfmon.engine.linux.files.open_flags import O_ACCMODE
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.signals.fasync import NotifyingFile

PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
PROT_ANY = 7
PROT_GROWS = 0x0300_0000  # PROT_GROWSDOWN, PROT_GROWSUP: regions do not grow here
MAP_SHARED, MAP_PRIVATE, MAP_SHARED_VALIDATE, MAP_TYPE = 1, 2, 3, 0xF
MAP_FIXED, MAP_ANONYMOUS, MAP_FIXED_NOREPLACE = 0x10, 0x20, 0x100000
MREMAP_MAYMOVE, MREMAP_FIXED = 1, 2
MADV_DONTNEED, MADV_REMOVE, MADV_FREE, LAST_ADVICE = 4, 9, 8, 25
MS_ASYNC, MS_INVALIDATE, MS_SYNC = 1, 2, 4
O_RDONLY, O_WRONLY, O_RDWR = 0, 1, 2
PIECE = 1 << 20


def _pages(p: Process, length: int) -> int:
    """The length in whole pages, in bytes."""
    return (length + p.memory.page_size - 1) & -p.memory.page_size


def _range(p: Process, address: int, length: int) -> tuple[int, int]:
    """A page-aligned range of user space: (start, end); EINVAL or ENOMEM for an invalid one."""
    if address % p.memory.page_size:
        fail(errno.EINVAL)
    length = _pages(p, length)
    if not p.abi.in_user_space(address, length):
        fail(errno.ENOMEM)
    return address, address + length


def _rights(protection: int) -> int:
    """Protection of pages: a writable page can be read."""
    return protection & PROT_ANY | (PROT_READ if protection & PROT_WRITE else 0)


def _is_free(p: Process, start: int, length: int) -> bool:
    return p.memory.find_free(length, start, start + length) is not None


@system_call("brk")
def brk(p: Process, wanted: int) -> int:
    """Returns the break, moved or not."""
    page = p.memory.page_size
    if not p.first_break <= wanted <= p.first_break + p.abi.layout.max_break_bytes:
        return p.current_break
    old, new = (p.current_break + page - 1) & -page, (wanted + page - 1) & -page
    try:
        if new > old:
            if not p.abi.in_user_space(old, new - old) or not _is_free(p, old, new - old):
                return p.current_break
            p.memory.map(old, new - old, PROT_READ | PROT_WRITE)
        elif new < old:
            _unmap(p, new, old)
    except (GuestMemoryLimit, MemoryError):
        return p.current_break
    p.current_break = wanted
    return wanted


@system_call("mmap")
def mmap(p: Process, address: int, length: int, protection: int, flags: int, fd: int, offset: int) -> int:
    return _mmap(p, address, length, int32(protection), int32(flags), int32(fd), offset)


@system_call("mmap2")
def mmap2(p: Process, address: int, length: int, protection: int, flags: int, fd: int, pages: int) -> int:
    """As mmap, with the offset in pages."""
    offset = pages * p.memory.page_size
    return _mmap(p, address, length, int32(protection), int32(flags), int32(fd), offset)


def _mmap(p: Process, address: int, length: int, protection: int, flags: int, fd: int, offset: int) -> int:
    kind = flags & MAP_TYPE
    if offset % p.memory.page_size or not length or kind not in (MAP_SHARED, MAP_PRIVATE, MAP_SHARED_VALIDATE):
        fail(errno.EINVAL)
    file = None if flags & MAP_ANONYMOUS else _mappable(p, fd, protection, kind != MAP_PRIVATE, length, offset)
    size = _pages(p, length)
    start = _place(p, address, size, flags)
    if file is not None and offset + size >= 1 << 63:
        fail(errno.EOVERFLOW)
    _unmap(p, start, start + size)
    p.memory.map(start, size, _rights(protection), kind != MAP_PRIVATE)
    if isinstance(file, NotifyingFile) and file.check_mapping(length, offset, kind != MAP_PRIVATE):
        file.mapped(p, start, size, protection & PROT_ANY)
    elif file is not None:
        p.mappings.add(start, size, file, offset, kind != MAP_PRIVATE, _rights(protection))
    return start


def _mappable(p: Process, fd: int, protection: int, shared: bool, length: int, offset: int) -> OpenFile | None:
    """The file to map; None for /dev/zero, which gives anonymous memory."""
    file = p.files.get(fd)
    if file.check_mapping(length, offset, shared):
        return file
    status = os.fstat(file.host)
    if stat.S_ISCHR(status.st_mode) and file.path == b"/dev/zero":
        return None
    if not stat.S_ISREG(status.st_mode):
        fail(errno.ENODEV)
    access = p.file_flags(file) & O_ACCMODE
    if access == O_WRONLY or (shared and protection & PROT_WRITE and access != O_RDWR):
        fail(errno.EACCES)
    return file


def _place(p: Process, address: int, size: int, flags: int) -> int:
    """The address of a mapping: the given one if fixed or free, else the lowest free one."""
    if not size or not p.abi.in_user_space(0, size):
        fail(errno.ENOMEM)
    if flags & (MAP_FIXED | MAP_FIXED_NOREPLACE):
        if address % p.memory.page_size:
            fail(errno.EINVAL)
        if not p.abi.in_user_space(address, size):
            fail(errno.ENOMEM)
        if flags & MAP_FIXED_NOREPLACE and not _is_free(p, address, size):
            fail(errno.EEXIST)
        return address
    hint = _pages(p, address)
    if hint and p.abi.in_user_space(hint, size) and _is_free(p, hint, size):
        return hint
    return p.memory.find_free(size, p.abi.layout.map_base, p.abi.layout.map_end) or fail(errno.ENOMEM)


def _unmap(p: Process, start: int, end: int) -> None:
    p.mappings.remove(start, end)
    p.memory.unmap(start, end - start)


@system_call("munmap")
def munmap(p: Process, address: int, length: int) -> int:
    if address % p.memory.page_size or not length or not p.abi.in_user_space(address, _pages(p, length)):
        fail(errno.EINVAL)
    _unmap(p, address, address + _pages(p, length))
    return 0


@system_call("mprotect", "pkey_mprotect")
def mprotect(p: Process, address: int, length: int, protection: int) -> int:
    wanted = int32(protection)
    if wanted & ~(PROT_ANY | PROT_GROWS):
        fail(errno.EINVAL)
    start, end = _range(p, address, length)
    if start == end:
        return 0
    mapping = p.mappings.at(start)
    if mapping is not None and mapping.shared and wanted & PROT_WRITE:
        _mappable_again(p, mapping.file)
    try:
        p.memory.protect(start, end - start, _rights(wanted))
    except GuestMemoryFault:
        fail(errno.ENOMEM)
    p.mappings.protect(start, end, _rights(wanted))
    return 0


def _mappable_again(p: Process, file: OpenFile) -> None:
    """A shared mapping becomes writable only if its file was opened for writing."""
    if p.file_flags(file) & O_ACCMODE != O_RDWR:
        fail(errno.EACCES)


@system_call("mremap")
def mremap(p: Process, address: int, old_length: int, new_length: int, flags: int, target: int) -> int:
    """Shrink, grow in place, or move. Mappings of files cannot be moved or grown."""
    start, end = _range(p, address, old_length)
    new_size = _pages(p, new_length)
    if not new_size or int32(flags) & ~(MREMAP_MAYMOVE | MREMAP_FIXED):
        fail(errno.EINVAL)
    if start == end or not p.memory.is_mapped(start, end - start):
        fail(errno.EINVAL if start == end else errno.EFAULT)
    if flags & MREMAP_FIXED:
        return _move_fixed(p, (start, end), new_size, flags, target)
    if start + new_size <= end:
        if start + new_size < end:
            _unmap(p, start + new_size, end)
        return start
    if p.mappings.at(start) is not None:
        p.notice("mremap cannot grow the mapping of a file; it returns ENOMEM")
        fail(errno.ENOMEM)
    more = new_size - (end - start)
    if p.abi.in_user_space(start, new_size) and _is_free(p, end, more):
        p.memory.map(end, more, _protection_at(p, start))
        return start
    if not flags & MREMAP_MAYMOVE:
        fail(errno.ENOMEM)
    place = p.memory.find_free(new_size, p.abi.layout.map_base, p.abi.layout.map_end) or fail(errno.ENOMEM)
    return _move(p, (start, end), place, new_size)


def _move_fixed(p: Process, old: tuple[int, int], size: int, flags: int, target: int) -> int:
    if not flags & MREMAP_MAYMOVE or target % p.memory.page_size or not p.abi.in_user_space(target, size):
        fail(errno.EINVAL)
    if old[0] < target + size and target < old[1]:
        fail(errno.EINVAL)
    if p.mappings.at(old[0]) is not None:
        p.notice("mremap cannot move the mapping of a file; it returns ENOMEM")
        fail(errno.ENOMEM)
    _unmap(p, target, target + size)
    return _move(p, old, target, size)


def _protection_at(p: Process, address: int) -> int:
    return next((rights for low, high, rights in p.memory.regions_map() if low <= address < high), 0)


def _move(p: Process, old: tuple[int, int], place: int, size: int) -> int:
    """Move pages; zero pages are not touched."""
    start, end = old
    rights = _protection_at(p, start)
    p.memory.map(place, size, rights, p.memory.is_shared(start))
    p.memory.protect(start, end - start, PROT_READ)
    for at in range(0, min(size, end - start), PIECE):
        data = p.memory.read(start + at, min(PIECE, min(size, end - start) - at))
        if data.strip(b"\0"):
            p.memory.write_initial(place + at, data)
    _unmap(p, start, end)
    return place


@system_call("madvise")
def madvise(p: Process, address: int, length: int, advice: int) -> int:
    """MADV_DONTNEED restores the first contents of private memory; other advice has no visible effect."""
    start, end = _range(p, address, length)
    what = int32(advice)
    if not 0 <= what <= LAST_ADVICE:
        fail(errno.EINVAL)
    if start == end:
        return 0
    if not p.memory.is_mapped(start, end - start):
        fail(errno.ENOMEM)
    if what != MADV_DONTNEED:
        return 0
    for low, high, rights in p.memory.regions_map():
        low, high = max(low, start), min(high, end)
        if low < high and not p.mappings.reload(low, high) and not p.memory.is_shared(low):
            p.memory.map(low, high - low, rights)
    return 0


@system_call("msync")
def msync(p: Process, address: int, length: int, flags: int) -> int:
    start, end = _range(p, address, length)
    if int32(flags) & ~(MS_ASYNC | MS_INVALIDATE | MS_SYNC) or (flags & MS_ASYNC and flags & MS_SYNC):
        fail(errno.EINVAL)
    if start < end and not p.memory.is_mapped(start, end - start):
        fail(errno.ENOMEM)
    p.mappings.write_back(start, end)
    return 0


@system_call("mincore")
def mincore(p: Process, address: int, length: int, vector: int) -> int:
    """All mapped pages are resident."""
    start, end = _range(p, address, length)
    if start < end and not p.memory.is_mapped(start, end - start):
        fail(errno.ENOMEM)
    count = (end - start) // p.memory.page_size
    if count > p.user.buffer(vector, count, 2):
        fail(errno.EFAULT)
    p.user.write(vector, b"\1" * count)
    return 0


@system_call("mlock", "mlock2", "munlock", "mlockall", "munlockall")
def mlock(p: Process) -> int:
    """Guest memory is never swapped, as far as the program sees."""
    return 0
