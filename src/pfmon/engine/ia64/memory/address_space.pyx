"""The memory of one guest process, for the loader and the system calls (see memory.pxd for what instructions do)."""

from bisect import bisect_right

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy
from posix.mman cimport MAP_ANONYMOUS, MAP_FAILED, MAP_NORESERVE, MAP_PRIVATE, PROT_READ, PROT_WRITE, mmap, munmap

from pfmon.engine.ia64.core.alat cimport alat_overlap
from pfmon.engine.ia64.core.cpu cimport PAGE_SIZE, Cpu
from pfmon.engine.ia64.memory.map cimport (
    PROTECT_READ, PROTECT_WRITE, Region, find_region, flush_tlb, is_code, writes_code)


class GuestMemoryFault(Exception):
    """An access by the system-call layer to guest memory that is not mapped, or not for this use."""

    def __init__(self, address: int) -> None:
        super().__init__(f"guest address {address:#x} is not accessible")
        self.address = address


class GuestMemoryLimit(Exception):
    """The guest asked for more memory than pfmon lets it have."""


cdef class AddressSpace:
    """The memory of one guest process.

    ``limit`` is the most bytes that may be mapped at a time; asking for more raises GuestMemoryLimit. Addresses and
    lengths are in bytes; protections are 1 read, 2 write, 4 execute, as in Linux.
    """

    page_size = PAGE_SIZE

    def __cinit__(self, uint64_t limit=<uint64_t>8 << 30):
        self.limit = limit
        self.mapped = 0
        self.regions = []        # [start, end, host, protection], sorted and disjoint
        self.cpu = NULL

    def __dealloc__(self):
        for start, end, host, _ in self.regions or ():
            munmap(<void*><uint64_t>host, end - start)
        free(self.c.regions)
        free(self.c.code)

    cdef attach(self, Cpu* cpu):
        self.cpu = cpu
        cpu.memory = &self.c
        flush_tlb(cpu)

    cdef _publish(self):
        """Make the C table the same as the list."""
        cdef Region* fresh = <Region*>realloc(self.c.regions, max(1, len(self.regions)) * sizeof(Region))
        if fresh == NULL:
            raise MemoryError
        self.c.regions = fresh
        self.c.count = len(self.regions)
        self.c.last = 0
        for i, (start, end, host, protection) in enumerate(self.regions):
            fresh[i].start = start
            fresh[i].end = end
            fresh[i].host = <uint8_t*><uint64_t>host
            fresh[i].protection = protection
        if self.cpu != NULL:
            flush_tlb(self.cpu)

    def _split(self, address):
        """Let no region reach across ``address``."""
        i = bisect_right(self.regions, address, key=lambda region: region[0]) - 1
        if i >= 0:
            start, end, host, protection = self.regions[i]
            if start < address < end:
                self.regions[i] = (start, address, host, protection)
                self.regions.insert(i + 1, (address, end, host + address - start, protection))

    def _range(self, address, length):
        """Page-aligned bounds of a request; raises ValueError for what no mapping can have."""
        end = (address + length + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1)
        if address < 0 or address % PAGE_SIZE or length <= 0 or end >= 1 << 64:
            raise ValueError(f"bad mapping {address:#x}+{length:#x}")
        return address, end

    def _drop_code(self, start, end):
        """Translations of what was mapped here are stale."""
        cdef uint64_t page
        if self.c.code_used:
            for page in range(start, min(end, start + (PAGE_SIZE << 12)), PAGE_SIZE):
                if is_code(&self.c, page):
                    self.c.code_written = 1
            if end - start > PAGE_SIZE << 12:
                self.c.code_written = 1

    def map(self, address: int, length: int, protection: int) -> None:
        """Map zero-filled pages, in place of whatever was there."""
        start, end = self._range(address, length)
        self.unmap(start, end - start)
        if self.mapped + (end - start) > self.limit:
            raise GuestMemoryLimit(f"{self.mapped + end - start} bytes of guest memory; the limit is {self.limit}")
        cdef uint64_t size = end - start
        cdef void* host = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        if host == MAP_FAILED:
            raise GuestMemoryLimit(f"the host has no {size} bytes of address space left")
        self.mapped += size
        i = bisect_right(self.regions, start, key=lambda region: region[0])
        self.regions.insert(i, (start, end, <uint64_t>host, protection))
        self._publish()

    def unmap(self, address: int, length: int) -> None:
        """Unmap whatever is mapped there."""
        start, end = self._range(address, length)
        self._split(start)
        self._split(end)
        kept = []
        for region in self.regions:
            if start <= region[0] and region[1] <= end:
                munmap(<void*><uint64_t>region[2], region[1] - region[0])
                self.mapped -= region[1] - region[0]
            else:
                kept.append(region)
        if len(kept) != len(self.regions):
            self._drop_code(start, end)
        self.regions = kept
        self._publish()

    def protect(self, address: int, length: int, protection: int) -> None:
        """Change the protection of mapped pages; GuestMemoryFault if one of them is not mapped."""
        start, end = self._range(address, length)
        if not self.is_mapped(start, end - start):
            raise GuestMemoryFault(start)
        self._split(start)
        self._split(end)
        self.regions = [
            (s, e, host, protection if start <= s and e <= end else old) for s, e, host, old in self.regions
        ]
        self._drop_code(start, end)
        self._publish()

    def is_mapped(self, address: int, length: int) -> bool:
        """Whether every byte of a range is mapped."""
        end = address + length
        for s, e, _, _ in self.regions:
            if s <= address < e:
                address = e
                if address >= end:
                    return True
        return address >= end

    def find_free(self, length: int, low: int, high: int) -> int | None:
        """The lowest page-aligned address in [low, high) with ``length`` unmapped bytes, or None."""
        at = low
        for s, e, _, _ in self.regions:
            if e <= at:
                continue
            if s >= at + length:
                break
            at = e
        return at if at + length <= high else None

    def regions_map(self) -> list[tuple[int, int, int]]:
        """(start, end, protection) of every region, sorted."""
        return [(s, e, protection) for s, e, _, protection in self.regions]

    cdef _copy(self, uint64_t address, uint8_t* data, uint64_t length, uint32_t protection, bint write):
        cdef Region* region
        cdef uint64_t part, done = 0
        while done < length:
            region = find_region(&self.c, address + done)
            if region == NULL or region.protection & protection != protection:
                raise GuestMemoryFault(address + done)
            part = min(length - done, region.end - (address + done))
            if write:
                memcpy(region.host + (address + done - region.start), data + done, part)
            else:
                memcpy(data + done, region.host + (address + done - region.start), part)
            done += part

    def read(self, address: int, length: int) -> bytes:
        """Bytes as the guest could read them; GuestMemoryFault names the first byte that it could not."""
        self._check(address, length, PROTECT_READ)
        data = bytearray(length)
        cdef uint8_t[:] view = data
        if length:
            self._copy(address, &view[0], length, PROTECT_READ, False)
        return bytes(data)

    def _check(self, address, length, protection):
        """Refuse a transfer before it starts, so that nothing is allocated or written for an impossible one."""
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
        """Write as the guest could; nothing is written when a byte of it cannot be."""
        self._check(address, len(data), PROTECT_WRITE)
        self._store(address, data, PROTECT_WRITE)

    def write_initial(self, address: int, data: bytes | memoryview) -> None:
        """Write whatever the protection (for the loader)."""
        self._check(address, len(data), 0)
        self._store(address, data, 0)

    def _store(self, address, data, protection):
        cdef const uint8_t[:] view = data
        cdef uint64_t start = address
        if len(data):
            self._copy(start, <uint8_t*>&view[0], len(data), protection, True)
            if self.c.code_used and writes_code(&self.c, start, len(data)):
                self.c.code_written = 1
            if self.cpu != NULL and self.cpu.alat_used:
                alat_overlap(self.cpu, start, len(data))

    def detach(self):
        """The processor that used this memory is gone."""
        self.cpu = NULL
