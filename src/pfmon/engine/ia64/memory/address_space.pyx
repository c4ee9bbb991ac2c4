"""The memory of one guest process, for the loader and the system calls (instructions use memory_map.pyx)."""

# Buffers use the C API: a typed memoryview would add classes of its own to the start of every run.
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint32_t, uint64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from pfmon.engine.guest_memory import GuestMemoryFault, GuestMemoryLimit


cdef enum:
    MANY_BYTES = 4 * PAGE_SIZE   # threshold for asking the host for pages before a copy


def _start(extent):
    return extent.start


cdef class AddressSpace:
    """The memory of one guest process.

    ``limit`` is the most bytes that may be mapped at a time; asking for more raises GuestMemoryLimit. Addresses and
    lengths are in bytes; protections are 1 read, 2 write, 4 execute, as in Linux.
    """

    page_size = PAGE_SIZE

    def __cinit__(self, uint64_t limit=<uint64_t>8 << 30):
        self.limit = limit
        self.mapped = 0
        self.extents = []        # sorted and disjoint
        self.cpu = NULL

    def __dealloc__(self):
        self.extents = None      # they give their memory back
        drop_spare(&self.c.spare)
        free(self.c.regions)
        free(self.c.code)

    cdef attach(self, Cpu* cpu):
        self.cpu = cpu
        cpu.memory = &self.c
        flush_tlb(cpu)

    cdef _publish(self):
        """Update the C table from the list."""
        cdef Region* fresh = <Region*>realloc(self.c.regions, max(1, len(self.extents)) * sizeof(Region))
        cdef Extent one
        if fresh == NULL:
            raise MemoryError
        self.c.regions = fresh
        self.c.count = len(self.extents)
        self.c.last = 0
        for i, one in enumerate(self.extents):
            fresh[i] = Region(one.start, one.end, one.host, one.pages, one.protection, one.shared, 0, 0)
        if self.cpu != NULL:
            flush_tlb(self.cpu)

    def _begun(self, address):
        """The number of regions that begin at or below an address; they are sorted."""
        cdef Py_ssize_t low = 0, high = len(self.extents), middle
        while low < high:
            middle = (low + high) // 2
            if _start(self.extents[middle]) <= address:
                low = middle + 1
            else:
                high = middle
        return low

    def _split(self, address):
        """Split the region that spans ``address``."""
        cdef Extent one
        i = self._begun(address) - 1
        if i >= 0:
            one = self.extents[i]
            if one.start < address < one.end:
                self.extents.insert(i + 1, one.cut(address))

    def _range(self, address, length):
        """Page-aligned bounds of a request; ValueError for a range that no mapping can have."""
        end = (address + length + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1)
        if address < 0 or address % PAGE_SIZE or length <= 0 or end >= 1 << 64:
            raise ValueError(f"bad mapping {address:#x}+{length:#x}")
        return address, end

    def _drop_code(self, start, end):
        """Invalidate translations of a range."""
        cdef uint64_t page
        if self.c.code_used:
            for page in range(start, min(end, start + (PAGE_SIZE << 12)), PAGE_SIZE):
                if is_code(&self.c, page):
                    self.c.code_written = 1
            if end - start > PAGE_SIZE << 12:
                self.c.code_written = 1

    def map(self, address: int, length: int, protection: int, shared: bool = False) -> None:
        """Map zero-filled pages, replacing earlier mappings. ``shared``: with all spaces forked from this one."""
        start, end = self._range(address, length)
        self.unmap(start, end - start)
        if self.mapped + (end - start) > self.limit:
            raise GuestMemoryLimit(f"{self.mapped + end - start} bytes of guest memory; the limit is {self.limit}")
        made = new_extent(start, end, protection, shared)
        if made is None:
            raise MemoryError(f"the host has no {end - start} bytes of address space left (ulimit -v)")
        self.mapped += end - start
        self.extents.insert(self._begun(start), made)
        self._publish()

    def unmap(self, address: int, length: int) -> None:
        """Unmap all mappings in a range."""
        start, end = self._range(address, length)
        self._split(start)
        self._split(end)
        gone = [one for one in self.extents if start <= one.start and one.end <= end]
        if gone:
            self.mapped -= sum(one.end - one.start for one in gone)
            self.extents = [one for one in self.extents if not (start <= one.start and one.end <= end)]
            self._drop_code(start, end)
        self._publish()

    def protect(self, address: int, length: int, protection: int) -> None:
        """Change the protection of mapped pages; GuestMemoryFault if one of them is not mapped."""
        start, end = self._range(address, length)
        if not self.is_mapped(start, end - start):
            raise GuestMemoryFault(start)
        self._split(start)
        self._split(end)
        for one in self.extents:
            if start <= one.start and one.end <= end:
                one.with_protection(protection)
        self._drop_code(start, end)
        self._publish()

    def is_mapped(self, address: int, length: int) -> bool:
        """Whether every byte of a range is mapped."""
        end = address + length
        for one in self.extents:
            if one.start <= address < one.end:
                address = one.end
                if address >= end:
                    return True
        return address >= end

    def find_free(self, length: int, low: int, high: int) -> int | None:
        """The lowest page-aligned address in [low, high) with ``length`` unmapped bytes, or None."""
        at = low
        for one in self.extents:
            if one.end <= at:
                continue
            if one.start >= at + length:
                break
            at = one.end
        return at if at + length <= high else None

    def regions_map(self) -> list[tuple[int, int, int]]:
        """(start, end, protection) of every region, sorted."""
        return [(one.start, one.end, one.protection) for one in self.extents]

    def is_shared(self, address: int) -> bool:
        """Whether the mapping there is shared with other address spaces."""
        return any(one.start <= address < one.end and one.shared for one in self.extents)

    def place(self, address: int) -> int:
        """The host address of a guest byte, the same in all address spaces that share it. GuestMemoryFault."""
        cdef uint64_t left
        cdef Region* region = find_region(&self.c, address)
        if region == NULL:
            raise GuestMemoryFault(address)
        return <uint64_t>host_piece(&self.c, region, address, False, &left)

    def fork(self, lend: bool = False) -> AddressSpace:
        """A copy-on-write copy; shared pages stay shared. ``lend``: all pages do, until the copy is dropped, as if both
        were one."""
        cdef AddressSpace other = AddressSpace(self.limit)
        cdef Extent one, copy
        other.mapped = self.mapped
        for one in self.extents:
            if lend:
                one.make_all_private(&self.c.spare)
            copy = one.share()
            copy.shared |= lend
            other.extents.append(copy)
        self._publish()
        other._publish()
        return other

    def adopt(self, address: int, AddressSpace other, theirs: int, length: int, protection: int) -> None:
        """Map pages that are mapped ``shared`` elsewhere, in this space or another one, at an unmapped address: each
        sees the other's writes. GuestMemoryFault: some are not mapped."""
        cdef Extent one, copy
        start, end = self._range(address, length)
        if not other.is_mapped(theirs, end - start):
            raise GuestMemoryFault(theirs)
        if self.mapped + (end - start) > self.limit:
            raise GuestMemoryLimit(f"{self.mapped + end - start} bytes of guest memory; the limit is {self.limit}")
        other._split(theirs)
        other._split(theirs + end - start)
        made = []
        for one in other.extents:
            if theirs <= one.start and one.end <= theirs + (end - start):
                copy = one.share()
                copy.start, copy.end = one.start - theirs + start, one.end - theirs + start
                copy.protection, copy.shared = protection, True
                made.append(copy)
        self.mapped += end - start
        self.extents = sorted([*self.extents, *made], key=_start)
        other._publish()
        self._publish()

    def clear(self) -> None:
        """Unmap everything."""
        self.extents = []
        self.mapped = 0
        self._publish()

    cdef _copy(self, uint64_t address, uint8_t* data, uint64_t length, uint32_t protection, bint write):
        cdef Region* region
        cdef uint8_t* host
        cdef bint moved
        cdef uint64_t part, done = 0
        while done < length:
            region = find_region(&self.c, address + done)
            if region == NULL or region.protection & protection != protection:
                raise GuestMemoryFault(address + done)
            moved = write and copied_when_written(region, address + done)
            host = host_piece(&self.c, region, address + done, write, &part)
            if host == NULL:
                raise GuestMemoryLimit("the host has no memory left for a copy of a page")
            if moved and self.cpu != NULL:
                flush_tlb(self.cpu)
            part = min(length - done, part)
            if write:
                if part >= MANY_BYTES:
                    commit_pages(region, address + done, part)
                memcpy(host, data + done, part)
            else:
                memcpy(data + done, host, part)
            done += part

    def read(self, address: int, length: int) -> bytes:
        """Bytes that the guest can read; GuestMemoryFault names the first one that it cannot."""
        self._check(address, length, PROTECT_READ)
        data = PyBytes_FromStringAndSize(NULL, length)
        if length:
            self._copy(address, <uint8_t*>PyBytes_AS_STRING(data), length, PROTECT_READ, False)
        return data

    def _check(self, address, length, protection):
        """Refuse a transfer before it starts, so that an impossible one allocates and writes nothing."""
        cdef Region* region
        if not 0 <= address < 1 << 64 or length < 0:
            raise GuestMemoryFault(address)
        end = address + length
        while address < end:
            if address >= 1 << 64:
                raise GuestMemoryFault(address)
            region = find_region(&self.c, address)
            if region == NULL or region.protection & <uint32_t>protection != <uint32_t>protection:
                raise GuestMemoryFault(address)
            address = region.end

    def write(self, address: int, data: bytes) -> None:
        """Write as the guest could; nothing is written when it cannot write every byte."""
        self._check(address, len(data), PROTECT_WRITE)
        self._store(address, data, PROTECT_WRITE)

    def write_initial(self, address: int, data: bytes | memoryview) -> None:
        """Write regardless of protection (for the loader)."""
        self._check(address, len(data), 0)
        self._store(address, data, 0)

    def _store(self, address, data, protection):
        cdef Py_buffer bytes_of
        PyObject_GetBuffer(data, &bytes_of, PyBUF_SIMPLE)
        try:
            if bytes_of.len:
                self._put(address, <uint8_t*>bytes_of.buf, bytes_of.len, protection)
        finally:
            PyBuffer_Release(&bytes_of)

    cdef _put(self, uint64_t start, uint8_t* data, uint64_t length, protection):
        self._copy(start, data, length, protection, True)
        if self.c.code_used and writes_code(&self.c, start, length):
            self.c.code_written = 1
        if self.cpu != NULL and self.cpu.alat_used:
            alat_overlap(self.cpu, start, length)

    def detach(self):
        """The memory's processor is gone."""
        self.cpu = NULL
