"""Guest memory: regions of 16 KB pages on anonymous host memory, and the accesses of instructions to them."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t


cdef enum:
    PROTECT_READ = 1
    PROTECT_WRITE = 2
    PROTECT_EXECUTE = 4
    CODE_WORDS = 16              # 1024 bundles a page, 64 to a word
    UM_BE = 1 << 1
    UM_UP = 1 << 2
    UM_AC = 1 << 3
    UM_MFL = 1 << 4
    UM_MFH = 1 << 5

cdef struct Region:
    uint64_t start
    uint64_t end
    uint8_t* host                # host address of start; NULL: ``pages`` has each page's address
    PageFrame* pages
    uint32_t protection
    uint32_t shared              # its pages are not copied
    uint64_t touched             # end of the last sequentially written pages; 0: none
    uint64_t ahead               # bytes to request from the host when that continues

cdef struct CodePage:            # translated bundles of a page
    uint64_t page                # its address with bit 0 set; 0: free
    uint64_t bundles[CODE_WORDS]

cdef struct MemoryMap:
    Region* regions              # sorted, disjoint
    int64_t count
    int64_t last                 # the region found by the last lookup
    CodePage* code               # open-addressed hash by page
    uint64_t code_slots          # a power of two
    uint64_t code_used
    uint32_t code_written        # a translated bundle was written: translations are stale
    SpareFrames spare            # memory for copies of pages

cdef bint writes_code(MemoryMap* memory, uint64_t address, uint64_t size) noexcept nogil
cdef bint is_code(MemoryMap* memory, uint64_t page) noexcept nogil
cdef Region* find_region(MemoryMap* memory, uint64_t address) noexcept nogil
cdef uint8_t* host_piece(MemoryMap* memory, Region* region, uint64_t address, bint write,
                         uint64_t* length) noexcept nogil
cdef void commit_pages(Region* region, uint64_t start, uint64_t length) noexcept nogil
cdef bint copied_when_written(Region* region, uint64_t address) noexcept nogil
cdef uint8_t* fetch(Cpu* cpu, uint64_t address) noexcept nogil
cdef void reverse(uint8_t* data, uint32_t size) noexcept nogil
cdef int note_code(MemoryMap* memory, uint64_t bundle) noexcept nogil
cdef void forget_code(Cpu* cpu) noexcept nogil
cdef void flush_tlb(Cpu* cpu) noexcept nogil
cdef uint8_t* read_slowly(Cpu* cpu, uint64_t address, uint32_t size) noexcept nogil
cdef uint8_t* read_span(Cpu* cpu, uint64_t address, uint32_t size, uint32_t alignment) noexcept nogil
cdef int write_span(Cpu* cpu, uint64_t address, const uint8_t* data, uint32_t size,
                    uint32_t alignment) noexcept nogil
cdef uint8_t* aligned_data(Cpu* cpu, uint64_t address, uint32_t size, uint32_t protection) noexcept nogil
cdef int write_slowly(Cpu* cpu, uint64_t address, const uint8_t* data, uint32_t size) noexcept nogil
cdef uint8_t* probe(Cpu* cpu, uint64_t address, uint32_t protection) noexcept nogil


cdef inline uint8_t* readable_in_place(Cpu* cpu, uint64_t address, uint32_t size) noexcept nogil:
    """Host address of ``size`` bytes to read in place, or NULL: then ``read_slowly`` reads them or faults."""
    cdef Translation* t = &cpu.tlb[(address >> PAGE_SHIFT) & (TLB_SIZE - 1)]
    if likely((address & (~<uint64_t>(PAGE_SIZE - 1) | (size - 1))) == t.read_tag):
        return <uint8_t*>(address + t.addend)
    return NULL


cdef inline uint8_t* readable(Cpu* cpu, Op* op, uint64_t address, uint32_t size) noexcept nogil:
    """Host address of ``size`` bytes that ``op`` reads, or NULL with the fault in ``cpu``. ``size`` is a power of two.

    An access that is aligned, little-endian and hits the translation cache takes the first return.
    """
    cdef Translation* t = &cpu.tlb[(address >> PAGE_SHIFT) & (TLB_SIZE - 1)]
    if likely((address & (~<uint64_t>(PAGE_SIZE - 1) | (size - 1))) == t.read_tag):
        return <uint8_t*>(address + t.addend)
    cpu.index = op.index
    return read_slowly(cpu, address, size)


cdef inline uint8_t* writable(Cpu* cpu, uint64_t address, uint32_t size) noexcept nogil:
    """Host address of ``size`` bytes to write in place, or NULL: then ``write_slowly`` writes them or faults."""
    cdef Translation* t = &cpu.tlb[(address >> PAGE_SHIFT) & (TLB_SIZE - 1)]
    if likely((address & (~<uint64_t>(PAGE_SIZE - 1) | (size - 1))) == t.write_tag):
        return <uint8_t*>(address + t.addend)
    return NULL
