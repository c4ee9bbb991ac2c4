"""The translation of data references in system mode, with its faults in their priority (volume 2, 4.1 and 5.6)."""

from libc.stdint cimport uint32_t, uint64_t, uint8_t
from libc.string cimport memset

cdef enum:
    READ = PROTECT_READ
    WRITE = PROTECT_WRITE
    EXECUTE = PROTECT_EXECUTE
    ALL_DEFERRED = DCR_DM | DCR_DP | DCR_DK | DCR_DX | DCR_DR | DCR_DA | DCR_DD

# By ar, pl and privilege level: volume 2, table 4-2.
cdef uint8_t RIGHTS[8][4][4]

def _fill_rights():
    r, w, x = READ, WRITE, EXECUTE
    plain = {0: r, 1: r | x, 2: r | w, 3: r | w | x}
    for ar in range(8):
        for pl in range(4):
            for level in range(4):
                RIGHTS[ar][pl][level] = 0
                if ar < 4:
                    RIGHTS[ar][pl][level] = plain[ar] if level <= pl else 0
                elif ar == 7:
                    RIGHTS[ar][pl][level] = (r | x if level == 0 else x if level <= pl else x | RIGHT_PROMOTE)
                elif level <= pl:
                    at_page, above = {4: (r, r | w), 5: (r | x, r | w | x), 6: (r | w | x, r | w)}[ar]
                    most = level == 0 if ar == 5 or pl == 0 else level < pl
                    RIGHTS[ar][pl][level] = above if most else at_page

_fill_rights()


cdef uint32_t rights_of(const TranslationEntry* entry, uint32_t level) noexcept nogil:
    """The rights of a privilege level on a page."""
    return RIGHTS[entry.rights][entry.level][level]


cdef uint64_t default_itir(SystemState* system, uint64_t address) noexcept nogil:
    """ITIR of a translation fault: the region's page size and identifier (volume 2, 8.3)."""
    return <uint64_t>rid_of(system, address) << 8 | <uint64_t>preferred_size(system, address) << 2


cdef void physical_entry(SystemState* system, uint64_t address, TranslationEntry* to) noexcept nogil:
    """The translation of a physical reference: all rights; bit 63 makes it uncacheable (volume 2, 4.4.1)."""
    memset(to, 0, sizeof(to[0]))
    to.first = to.physical = 0
    to.last = ~<uint64_t>0 >> 1
    to.attribute = MA_UC if address >> 63 else MA_WB
    to.rights = 3
    to.level = 3
    to.valid = to.present = to.accessed = to.dirty = 1


cdef int check_keys(SystemState* system, const TranslationEntry* entry, uint32_t rights, uint32_t skipped) noexcept nogil:
    """The fault of protection keys (volume 2, 4.1.3), or FAULT_NONE; ``skipped``: DCR bits of faults not raised."""
    cdef uint32_t i
    cdef uint64_t refused = 0
    if not system.psr & PSR_PK:
        return FAULT_NONE
    if rights & WRITE: refused |= 1 << 1
    if rights & READ: refused |= 1 << 2
    if rights & EXECUTE: refused |= 1 << 3
    for i in range(PROTECTION_KEYS):
        if system.pkr[i] & 1 and <uint32_t>(system.pkr[i] >> 8) & 0xFFFFFF == entry.key:
            if system.pkr[i] & refused and not skipped & DCR_DX:
                return FAULT_KEY_PERMISSION
            return FAULT_NONE
    return FAULT_NONE if skipped & DCR_DK else FAULT_DATA_KEY_MISS


cdef bint breakpoint_matches(SystemState* system, const uint64_t* pairs, uint64_t address, uint32_t size, uint64_t wanted,
                             uint32_t level) noexcept nogil:
    """Whether a pair of breakpoint registers matches (volume 2, 7.1.1): ``wanted`` are its r, w or x bits."""
    cdef uint32_t i, byte
    cdef uint64_t mask, control
    for i in range(0, BREAKPOINT_REGISTERS, 2):
        control = pairs[i + 1]
        if not control & wanted or not control >> (56 + level) & 1:
            continue
        mask = control & (((<uint64_t>1 << 56) - 1)) | <uint64_t>0xFF << 56
        for byte in range(size):
            if ((address + byte) ^ pairs[i]) & mask == 0:
                return True
    return False


cdef int check_entry(Cpu* cpu, const DataReference* reference, const TranslationEntry* entry, uint32_t size) noexcept nogil:
    """The first fault of a translated reference in the order of figure 4-16, or FAULT_NONE. Faults that are deferred
    are noted in SystemState.deferred."""
    cdef SystemState* system = cpu.system
    cdef uint32_t skipped = reference.deferrable
    cdef uint64_t wanted = 0
    cdef int found
    if not entry.present:
        if not skipped & DCR_DP:
            return FAULT_DATA_PAGE_NOT_PRESENT
        system.deferred = 1
        return FAULT_NONE
    if entry.attribute == MA_NATPAGE:
        return FAULT_NAT_PAGE_CONSUMPTION
    if reference.virtual:
        found = check_keys(system, entry, reference.rights, 0)
        if found and not skipped & (DCR_DK if found == FAULT_DATA_KEY_MISS else DCR_DX):
            return found
        system.deferred |= found != 0
    if rights_of(entry, reference.level) & reference.rights != reference.rights:
        if not skipped & DCR_DR:
            return FAULT_DATA_ACCESS_RIGHTS
        system.deferred = 1
    if reference.rights & WRITE and not entry.dirty and not system.psr & PSR_DA:
        return FAULT_DIRTY_BIT
    if not entry.accessed and not system.psr & PSR_DA:
        if not skipped & DCR_DA:
            return FAULT_DATA_ACCESS_BIT
        system.deferred = 1
    if system.psr & PSR_DB and not system.psr & PSR_DD and size:
        if reference.rights & READ: wanted |= <uint64_t>1 << 63
        if reference.rights & WRITE: wanted |= <uint64_t>1 << 62
        if breakpoint_matches(system, system.dbr, reference.address, size, wanted, reference.level):
            if not skipped & DCR_DD:
                return FAULT_DATA_DEBUG
            system.deferred = 1
    return FAULT_NONE


cdef int find_data(Cpu* cpu, const DataReference* reference, TranslationEntry* to) noexcept nogil:
    """The translation of a data reference, or its fault: TLB and VHPT are searched (volume 2, 4.1.8)."""
    cdef SystemState* system = cpu.system
    cdef TranslationEntry* entry
    cdef int missed
    if not reference.virtual:
        if not implemented_physical(system, reference.address):
            return FAULT_UNIMPLEMENTED_ADDRESS
        physical_entry(system, reference.address, to)
        return FAULT_NONE
    if not implemented_virtual(system, reference.address):
        return FAULT_UNIMPLEMENTED_ADDRESS
    entry = find_translation(system, DATA_SIDE, reference.address)
    if entry == NULL:
        missed = walk_vhpt(cpu, DATA_SIDE, reference.address, reference.walks)
        if missed:
            return missed
        entry = find_translation(system, DATA_SIDE, reference.address)
        if entry == NULL:
            return FAULT_DATA_TLB
    to[0] = entry[0]
    return FAULT_NONE


cdef inline bint is_translation_miss(int number) noexcept nogil:
    return (number == FAULT_VHPT_TRANSLATION or number == FAULT_DATA_TLB or number == FAULT_ALTERNATE_DATA_TLB
            or number == FAULT_DATA_NESTED_TLB)


cdef int translate_data(Cpu* cpu, const DataReference* reference, TranslationEntry* to, uint32_t size) noexcept nogil:
    """Translate a data reference of ``size`` bytes; its fault, or FAULT_NONE."""
    cdef int found = find_data(cpu, reference, to)
    if found:
        if reference.deferrable & DCR_DM and is_translation_miss(found):
            cpu.system.deferred = 1
            return FAULT_NONE
        return found
    return check_entry(cpu, reference, to, size)
