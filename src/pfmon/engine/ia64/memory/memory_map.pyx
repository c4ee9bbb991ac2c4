"""Guest memory (see memory_map.pxd).

Pages are those of Linux for IA-64, 16 KB. Aligned little-endian accesses use a small host-side translation cache; all
others (first touch of a page, unaligned or big-endian data, writes to translated code, faults) take the functions
``*_slowly``.
"""

from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset
from posix.mman cimport madvise

from pfmon.stream._stream cimport Mark

cdef enum:
    MADV_POPULATE_WRITE = 23     # not in the headers of every host
    INITIAL_POPULATED_BYTES = 4 * PAGE_SIZE
    MAX_POPULATED_BYTES = 64 * PAGE_SIZE  # 1 MB


cdef Region* find_region(MemoryMap* memory, uint64_t address) noexcept nogil:
    """The region that holds ``address``, or NULL."""
    cdef int64_t low = 0, high = memory.count - 1, middle
    cdef Region* region
    if memory.last < memory.count:
        region = &memory.regions[memory.last]
        if region.start <= address < region.end:
            return region
    while low <= high:
        middle = (low + high) >> 1
        region = &memory.regions[middle]
        if address < region.start:
            high = middle - 1
        elif address >= region.end:
            low = middle + 1
        else:
            memory.last = middle
            return region
    return NULL


cdef CodePage* code_page(MemoryMap* memory, uint64_t page) noexcept nogil:
    """The record of translated bundles of ``page``, or the free slot for it."""
    cdef uint64_t i = (page >> PAGE_SHIFT) * <uint64_t>0x9E3779B97F4A7C15 >> 20
    if memory.code == NULL:
        return NULL
    while True:
        i &= memory.code_slots - 1
        if memory.code[i].page == page | 1 or memory.code[i].page == 0:
            return &memory.code[i]
        i += 1


cdef int grow_code(MemoryMap* memory) noexcept nogil:
    """Double the hash of code pages; 0 when out of memory."""
    cdef CodePage* old = memory.code
    cdef uint64_t old_slots = memory.code_slots, i
    cdef CodePage* fresh = <CodePage*>calloc(old_slots * 2 if old_slots else 64, sizeof(CodePage))
    if fresh == NULL:
        return 0
    memory.code = fresh
    memory.code_slots = old_slots * 2 if old_slots else 64
    for i in range(old_slots):
        if old[i].page:
            code_page(memory, old[i].page & ~<uint64_t>1)[0] = old[i]
    free(old)
    return 1


cdef int note_code(MemoryMap* memory, uint64_t bundle) noexcept nogil:
    """Record that ``bundle`` is translated, so that a write to it is noticed. 1 when its page is new."""
    cdef uint64_t page = bundle & ~<uint64_t>(PAGE_SIZE - 1)
    cdef uint64_t number = (bundle & (PAGE_SIZE - 1)) >> 4
    cdef CodePage* record
    cdef int new = 0
    if memory.code_used * 2 >= memory.code_slots and not grow_code(memory):
        return 0
    record = code_page(memory, page)
    if record.page == 0:
        record.page = page | 1
        memory.code_used += 1
        new = 1
    record.bundles[number >> 6] |= <uint64_t>1 << (number & 63)
    return new


cdef void forget_code(Cpu* cpu) noexcept nogil:
    """Forget all translated bundles."""
    cdef MemoryMap* memory = <MemoryMap*>cpu.memory
    if memory.code != NULL:
        memset(memory.code, 0, memory.code_slots * sizeof(CodePage))
    memory.code_used = 0
    memory.code_written = 0
    flush_tlb(cpu)


cdef void flush_tlb(Cpu* cpu) noexcept nogil:
    """Drop all host-side translations. Tag 1 matches no access: bit 0 is outside every tag compared."""
    cdef int i
    for i in range(TLB_SIZE):
        cpu.tlb[i].read_tag = 1 << 12
        cpu.tlb[i].write_tag = 1 << 12


cdef bint is_code(MemoryMap* memory, uint64_t page) noexcept nogil:
    cdef CodePage* record = code_page(memory, page)
    return record != NULL and record.page != 0


cdef bint writes_code(MemoryMap* memory, uint64_t address, uint64_t size) noexcept nogil:
    """Whether a translated bundle lies in the bytes written."""
    cdef uint64_t bundle = address & ~<uint64_t>15
    cdef CodePage* record
    cdef uint64_t number
    while bundle < address + size:
        record = code_page(memory, bundle & ~<uint64_t>(PAGE_SIZE - 1))
        if record == NULL or record.page == 0:
            bundle = (bundle | (PAGE_SIZE - 1)) + 1
            continue
        number = (bundle & (PAGE_SIZE - 1)) >> 4
        if (record.bundles[number >> 6] >> (number & 63)) & 1:
            return True
        bundle += 16
    return False


cdef uint8_t* fault_at(Cpu* cpu, uint64_t address, int number) noexcept nogil:
    cpu.fault = number
    cpu.fault_address = address
    return NULL


cdef uint8_t* host_piece(
        MemoryMap* memory, Region* region, uint64_t address, bint write, uint64_t* length) noexcept nogil:
    """Host address of a guest byte, and the length of contiguous host memory from there. To ``write``, a shared page is
    copied; NULL: out of memory."""
    cdef PageFrame* page
    if region.pages == NULL:
        length[0] = region.end - address
        return region.host + (address - region.start)
    page = &region.pages[(address - region.start) >> PAGE_SHIFT]
    if write and not region.shared and not make_private(&memory.spare, page):
        return NULL
    length[0] = PAGE_SIZE - (address & (PAGE_SIZE - 1))
    return page.data + (address & (PAGE_SIZE - 1))


cdef void commit_pages(Region* region, uint64_t start, uint64_t length) noexcept nogil:
    """Have the host allocate a region's pages at once: page faults take four times as long. A host without
    MADV_POPULATE_WRITE (Linux before 5.14) allocates them at first touch."""
    cdef uint64_t first = start & ~<uint64_t>(PAGE_SIZE - 1)
    if region.pages == NULL:
        madvise(region.host + (first - region.start), min(start + length, region.end) - first, MADV_POPULATE_WRITE)


cdef inline void page_written(Region* region, uint64_t page) noexcept nogil:
    """A page is written, perhaps for the first time. Sequential writes are expected to continue: memory is cleared, or
    a heap grows."""
    if page < region.touched:
        return
    if page == region.touched:
        commit_pages(region, page, region.ahead)
        region.touched = page + region.ahead
        region.ahead = min(region.ahead * 2, MAX_POPULATED_BYTES)
    else:
        region.touched, region.ahead = page + PAGE_SIZE, INITIAL_POPULATED_BYTES


cdef bint copied_when_written(Region* region, uint64_t address) noexcept nogil:
    """Whether the page is shared and so copied at a write."""
    if region.pages == NULL or region.shared:
        return False
    return shares_of(&region.pages[(address - region.start) >> PAGE_SHIFT])[0] > 1


cdef uint8_t* host_address(Cpu* cpu, uint64_t address, uint32_t protection) noexcept nogil:
    """Host address of a guest byte with this protection, else NULL with the fault. Fills the translation cache."""
    cdef MemoryMap* memory = <MemoryMap*>cpu.memory
    cdef Region* region = find_region(memory, address)
    cdef uint64_t page = address & ~<uint64_t>(PAGE_SIZE - 1), length
    cdef uint8_t* host
    cdef Translation* t
    if region == NULL:
        return fault_at(cpu, address, FAULT_DATA_PAGE_NOT_PRESENT)
    if region.protection & protection != protection:
        return fault_at(cpu, address, FAULT_DATA_ACCESS_RIGHTS)
    if protection & PROTECT_WRITE:
        page_written(region, page)
    host = host_piece(memory, region, address, protection & PROTECT_WRITE != 0, &length)
    if host == NULL:
        return fault_at(cpu, address, FAULT_DATA_PAGE_NOT_PRESENT)
    if not cpu.um & UM_BE:
        t = &cpu.tlb[(address >> PAGE_SHIFT) & (TLB_SIZE - 1)]
        t.addend = <uint64_t>host - address
        t.read_tag = page if region.protection & PROTECT_READ else 1 << 12
        t.write_tag = page if region.protection & PROTECT_WRITE and not is_code(memory, page) \
            and not copied_when_written(region, address) else 1 << 12
    return host


cdef uint8_t* probe(Cpu* cpu, uint64_t address, uint32_t protection) noexcept nogil:
    """Host address of a guest byte with this protection, else NULL with ``cpu.fault`` set."""
    if cpu.system != NULL:
        return system_data(cpu, address, protection)
    return host_address(cpu, address, protection)


cdef uint8_t* fetch(Cpu* cpu, uint64_t address) noexcept nogil:
    """Host address of a bundle, or NULL when it cannot be executed."""
    cdef MemoryMap* memory = <MemoryMap*>cpu.memory
    cdef Region* region
    cdef uint64_t length
    if cpu.system != NULL:               # blocks end with a small page (fetch_page)
        return cpu.system.code_host + (address & (SMALL_PAGE - 1))
    region = find_region(memory, address)
    if region == NULL or not region.protection & PROTECT_EXECUTE:
        return NULL
    return host_piece(memory, region, address, False, &length)


cdef void reverse(uint8_t* data, uint32_t size) noexcept nogil:
    cdef uint32_t i
    cdef uint8_t kept
    for i in range(size >> 1):
        kept = data[i]
        data[i] = data[size - 1 - i]
        data[size - 1 - i] = kept


cdef uint8_t* misaligned(Cpu* cpu, uint64_t address) noexcept nogil:
    return fault_at(cpu, address, FAULT_UNALIGNED_REFERENCE)


cdef void complete_unaligned(Cpu* cpu, uint64_t address, int kind) noexcept nogil:
    """Record an unaligned reference that the operating system completes."""
    mark(cpu, kind, 1)
    if cpu.unaligned == 0:
        cpu.unaligned_address = address
        cpu.unaligned_ip = cpu.ip
        if cpu.block != NULL and cpu.index < cpu.block.length:
            cpu.unaligned_ip = cpu.block.instructions[cpu.index].address
    cpu.unaligned += 1


cdef uint8_t* read_slowly(Cpu* cpu, uint64_t address, uint32_t size) noexcept nogil:
    """As ``readable``, for all cases."""
    return read_span(cpu, address, size, size)


cdef uint8_t* read_span(Cpu* cpu, uint64_t address, uint32_t size, uint32_t alignment) noexcept nogil:
    """Host address of ``size`` bytes to read, or NULL with the fault in ``cpu``. Unaligned and big-endian data is
    assembled in ``cpu.bounce``.

    Linux completes unaligned references in its handler (SDM volume 2, 5.5: Unaligned Data Reference fault), so a
    program sees them succeed; with PSR.ac they fault here as well, after the page's faults (table 5-6).
    """
    cdef uint8_t* host
    cdef uint8_t* second
    cdef uint32_t first = PAGE_SIZE - (address & (PAGE_SIZE - 1))
    cdef bint unaligned = address & (alignment - 1) != 0
    if cpu.system != NULL:
        return system_read(cpu, address, size, alignment)
    host = host_address(cpu, address, PROTECT_READ)
    if host == NULL:
        return NULL
    if unaligned and cpu.um & UM_AC:
        return misaligned(cpu, address)
    if first < size:
        second = host_address(cpu, address + first, PROTECT_READ)
        if second == NULL:
            return NULL
        memcpy(cpu.bounce, host, first)
        memcpy(cpu.bounce + first, second, size - first)
        host = cpu.bounce
    if unaligned:
        complete_unaligned(cpu, address, Mark.MISALIGNED_LOAD)
    if (unaligned or cpu.um & UM_BE) and host != cpu.bounce:
        memcpy(cpu.bounce, host, size)
        host = cpu.bounce
    if cpu.um & UM_BE:
        reverse(host, size)
    return host


cdef int write_slowly(Cpu* cpu, uint64_t address, const uint8_t* data, uint32_t size) noexcept nogil:
    """Write ``size`` bytes in every case; 0 and the fault in ``cpu`` when it cannot be done."""
    return write_span(cpu, address, data, size, size)


cdef int write_span(Cpu* cpu, uint64_t address, const uint8_t* data, uint32_t size, uint32_t alignment) noexcept nogil:
    """Write ``size`` bytes, wholly or not at all; 0 and the fault in ``cpu`` when it cannot be done."""
    cdef uint8_t* host
    cdef uint8_t* second = NULL
    cdef uint32_t first = min(size, PAGE_SIZE - <uint32_t>(address & (PAGE_SIZE - 1)))
    cdef MemoryMap* memory = <MemoryMap*>cpu.memory
    cdef uint8_t swapped[32]
    cdef bint unaligned = address & (alignment - 1) != 0
    if cpu.system != NULL:
        return system_write(cpu, address, data, size, alignment)
    host = host_address(cpu, address, PROTECT_WRITE)
    if host == NULL:
        return 0
    if unaligned and cpu.um & UM_AC:
        misaligned(cpu, address)
        return 0
    if first < size:
        second = host_address(cpu, address + first, PROTECT_WRITE)
        if second == NULL:
            return 0
    if unaligned:
        complete_unaligned(cpu, address, Mark.MISALIGNED_STORE)
    if cpu.um & UM_BE:
        memcpy(swapped, data, size)
        reverse(swapped, size)
        data = swapped
    memcpy(host, data, first)
    if second != NULL:
        memcpy(second, data + first, size - first)
    if memory.code_used and writes_code(memory, address, size):
        memory.code_written = 1
        cpu.limit = NULL
    return 1


cdef uint8_t* aligned_data(Cpu* cpu, uint64_t address, uint32_t size, uint32_t protection) noexcept nogil:
    """``size`` bytes to read for an instruction that is never unaligned and needs this access to their page; NULL with
    the fault in ``cpu``. Without PROTECT_READ they are only checked."""
    cdef uint8_t* host
    if cpu.system != NULL:
        return system_aligned(cpu, address, size, protection)
    host = host_address(cpu, address, protection)
    if host == NULL:
        return NULL
    if address & (size - 1):
        return misaligned(cpu, address)
    if cpu.um & UM_BE and protection & PROTECT_READ:
        memcpy(cpu.bounce, host, size)
        reverse(cpu.bounce, size)
        host = cpu.bounce
    return host
