"""The virtual hash page table and its walker (volume 2, 4.1.4 to 4.1.8)."""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

from pfmon.stream._stream cimport (
    NO_INSTRUCTION, WALK_DISABLED, WALK_FAILED, WALK_INSERTED, WALK_MISSED, Mark, Walk, indexed, mark_word,
    packed_address)

cdef enum:
    PTA_VE = 1 << 0
    PTA_VF = 1 << 8
    RR_VE = 1 << 0
    LONG_SHIFT = 5               # 32 bytes an entry
    SHORT_SHIFT = 3
    INDEX_TAG_SHIFT = 10         # bits of the page number that are in every index
    RID_TAG_SHIFT = 39

cdef extern from *:
    """
    #define PFMON_PTE_RESERVED (0x3ULL << 50 | 0x2ULL)   /* bits 1, 50, 51 */
    """
    uint64_t PTE_RESERVED "PFMON_PTE_RESERVED"
    uint64_t PTE_PPN "0x3FFFFFFFFF000ULL"


cdef uint64_t vhpt_address(SystemState* system, uint64_t address) noexcept nogil:
    """thash: the address of the entry for ``address`` (volume 2, 4.1.7.1; the long format's hash is this model's)."""
    cdef uint64_t pta = system.cr[CR_PTA]
    cdef uint32_t size = <uint32_t>(pta >> 2) & 0x3F
    cdef uint64_t mask = (<uint64_t>1 << size) - 1
    cdef uint64_t page = (address & REGION_OFFSET) >> preferred_size(system, address)
    cdef uint64_t base = pta & ~<uint64_t>0x7FFF
    if pta & PTA_VF:
        return base & ~mask | ((page ^ rid_of(system, address)) << LONG_SHIFT) & mask
    return (address & ~REGION_OFFSET) | ((base & ~mask | (page << SHORT_SHIFT) & mask) & REGION_OFFSET)


cdef uint64_t vhpt_tag(SystemState* system, uint64_t address) noexcept nogil:
    """ttag: with the index it determines page and region identifier."""
    cdef uint64_t page = (address & REGION_OFFSET) >> preferred_size(system, address)
    return page >> INDEX_TAG_SHIFT | <uint64_t>rid_of(system, address) << RID_TAG_SHIFT


cdef bint unpack_entry(SystemState* system, uint64_t address, uint64_t pte, uint64_t itir,
                       TranslationEntry* to) noexcept nogil:
    """A translation entry from the formats of itc and of the VHPT (volume 2, figures 4-5 and 4-10). False: a reserved
    field or encoding."""
    cdef uint32_t bits = <uint32_t>(itir >> 2) & 0x3F
    cdef uint64_t mask
    if itir & ~<uint64_t>0xFFFFFFFC or not system.page_sizes >> bits & 1:
        return False
    mask = (<uint64_t>1 << bits) - 1
    memset(to, 0, sizeof(to[0]))
    to.valid = 1
    to.rid = rid_of(system, address)
    to.key = <uint32_t>(itir >> 8) & 0xFFFFFF
    to.first = address & REGION_OFFSET & ~mask
    to.last = to.first | mask
    to.present = pte & 1
    if not to.present:
        return True
    to.attribute = (pte >> 2) & 7
    if pte & PTE_RESERVED or 1 <= to.attribute <= 3:
        return False
    to.accessed = (pte >> 5) & 1
    to.dirty = (pte >> 6) & 1
    to.level = (pte >> 7) & 3
    to.rights = (pte >> 9) & 7
    to.physical = pte & PTE_PPN & ~mask
    to.deferral = (pte >> 52) & 1
    return to.physical >> system.pa_bits == 0


cdef bint walker_enabled(Cpu* cpu, uint32_t side, uint64_t address, bint walks) noexcept nogil:
    """Whether the walker searches for a reference (volume 2, 4.1.7, table 4-8): ``walks``: PSR lets data references."""
    cdef SystemState* system = cpu.system
    cdef uint64_t needed = PSR_DT | PSR_IT | PSR_IC
    if not system.cr[CR_PTA] & PTA_VE or not system.rr[region_of(address)] & RR_VE:
        return False
    if side == DATA_SIDE:
        return walks
    return system.psr & needed == needed


cdef int data_miss(SystemState* system, int number) noexcept nogil:
    """A data reference's translation fault while PSR.ic is 0 is a nested one (volume 2, figure 4-16)."""
    return number if system.psr & PSR_IC or system.ic_in_flight else FAULT_DATA_NESTED_TLB


cdef uint64_t* vhpt_entry(Cpu* cpu, uint64_t at, int* missed) noexcept nogil:
    """The host address of a VHPT entry, or NULL: the walker gives up (``missed``: its own reference misses)."""
    cdef TranslationEntry* entry
    missed[0] = 0
    if not implemented_virtual(cpu.system, at):
        return NULL
    entry = find_translation(cpu.system, DATA_SIDE, at)
    if entry == NULL:
        missed[0] = 1
        return NULL
    if not entry.present or entry.attribute != MA_WB or not rights_of(entry, 0) & PROTECT_READ or not entry.accessed:
        return NULL
    return <uint64_t*>physical_memory(cpu, physical_of(entry, at, True), False)


cdef int mark_walk(Cpu* cpu, uint32_t side, Walk outcome, uint64_t at, const TranslationEntry* found) noexcept nogil:
    """Put a walk into the stream, with the physical address of the entry that it read (0: none)."""
    cdef uint64_t value = (side == DATA_SIDE) | <uint64_t>outcome << 1
    if found != NULL:
        value |= <uint64_t>size_bits(found) << 3
    append_mark(cpu, mark_word(Mark.WALK, indexed(value, cpu.index if side == DATA_SIDE else NO_INSTRUCTION)))
    if cpu.traced and at:
        append_mark(cpu, mark_word(Mark.WALK_ADDRESS, packed_address(at)))
    return 0


cdef uint32_t size_bits(const TranslationEntry* entry) noexcept nogil:
    """The size of a page as a power of two."""
    cdef uint32_t bits = 12
    while bits < 61 and entry.last - entry.first >> bits:
        bits += 1
    return bits


cdef int walk_vhpt(Cpu* cpu, uint32_t side, uint64_t address, bint walks) noexcept nogil:
    """Search the VHPT after a TLB miss, and insert what is found; a fault, or FAULT_NONE (volume 2, 4.1.8)."""
    cdef SystemState* system = cpu.system
    cdef bint data = side == DATA_SIDE, long_format = system.cr[CR_PTA] & PTA_VF != 0
    cdef int failed = FAULT_DATA_TLB if data else FAULT_INST_TLB, missed
    cdef uint64_t at = vhpt_address(system, address)
    cdef uint64_t words[3]
    cdef uint64_t physical
    cdef TranslationEntry found
    cdef uint64_t* entry
    cdef uint32_t i
    if not walker_enabled(cpu, side, address, walks):
        mark_walk(cpu, side, WALK_DISABLED, 0, NULL)
        failed = FAULT_ALTERNATE_DATA_TLB if data else FAULT_ALTERNATE_INST_TLB
        return data_miss(system, failed) if data else failed
    entry = vhpt_entry(cpu, at, &missed)
    if entry == NULL:
        mark_walk(cpu, side, WALK_MISSED if missed else WALK_FAILED, 0, NULL)
        if missed:
            failed = FAULT_VHPT_TRANSLATION
        return data_miss(system, failed) if data else failed
    for i in range(3 if long_format else 1):
        words[i] = byteswap(entry[i]) if system.cr[CR_DCR] & DCR_BE else entry[i]
    physical = tpa_of(system, at)
    if not long_format:
        words[1] = default_itir(system, address)
        words[2] = vhpt_tag(system, address)
    if words[2] != vhpt_tag(system, address) or not unpack_entry(system, address, words[0], words[1], &found) \
            or not insert_translation(cpu, side, &found):
        mark_walk(cpu, side, WALK_FAILED, physical, NULL)
        return data_miss(system, failed) if data else failed
    mark_walk(cpu, side, WALK_INSERTED, physical, &found)
    return FAULT_NONE


cdef uint64_t tpa_of(SystemState* system, uint64_t address) noexcept nogil:
    """The physical address of a data address that has a translation."""
    return physical_of(find_translation(system, DATA_SIDE, address), address, True)
