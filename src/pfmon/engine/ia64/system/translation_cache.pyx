"""Translation registers and translation caches (volume 2, 4.1.1): lookup, insertion, purges (table 4-1).

The engine executes with the translations that these hold, and with no others: a translation that was replaced misses.
The host-side translation cache (Cpu.tlb) has pages of 16 KB of these entries; what is dropped here is dropped there.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

from pfmon.stream._stream cimport Mark, indexed, mark_word

cdef enum:
    MARKED_RID = 0x7FFF          # bits of a region identifier in a mark


cdef inline bint translates(const TranslationEntry* entry, uint32_t rid, uint64_t offset) noexcept nogil:
    return entry.valid and entry.rid == rid and entry.first <= offset <= entry.last


cdef inline bint overlaps(const TranslationEntry* entry, uint32_t rid, uint64_t first, uint64_t last) noexcept nogil:
    return entry.valid and entry.rid == rid and entry.first <= last and first <= entry.last


cdef TranslationEntry* find_translation(SystemState* system, uint32_t side, uint64_t address) noexcept nogil:
    """The entry that translates a virtual address, or NULL."""
    cdef uint64_t offset = address & REGION_OFFSET
    cdef uint32_t rid = rid_of(system, address), i
    for i in range(system.register_count[side]):
        if translates(&system.registers[side][i], rid, offset):
            return &system.registers[side][i]
    for i in range(system.cache_count[side]):
        if translates(&system.cache[side][i], rid, offset):
            return &system.cache[side][i]
    return NULL


cdef bint implemented_virtual(SystemState* system, uint64_t address) noexcept nogil:
    """Whether bits 60 to va_msb + 1 equal bit va_msb (volume 2, 4.3.2)."""
    cdef int64_t shifted = <int64_t>(address << 3) >> (3 + system.va_msb)
    return shifted == 0 or shifted == -1


cdef bint implemented_physical(SystemState* system, uint64_t address) noexcept nogil:
    """Whether bits 62 to pa_bits are 0 (volume 2, 4.3.1); bit 63 chooses the attribute."""
    return (address & ~(<uint64_t>1 << 63)) >> system.pa_bits == 0


cdef void translations_changed(Cpu* cpu, uint32_t side) noexcept nogil:
    """Drop what the host holds of a side's translations."""
    if side == DATA_SIDE:
        drop_filled(cpu)
    else:
        cpu.system.fetch_changed = 1
        cpu.system.mode_changed = 1
        cpu.limit = NULL


cdef bint any_register_overlaps(SystemState* system, uint32_t side, const TranslationEntry* entry,
                                uint32_t but) noexcept nogil:
    cdef uint32_t i
    for i in range(system.register_count[side]):
        if i != but and overlaps(&system.registers[side][i], entry.rid, entry.first, entry.last):
            return True
    return False


cdef void drop_cached(SystemState* system, uint32_t side, uint32_t rid, uint64_t first, uint64_t last) noexcept nogil:
    cdef uint32_t i
    for i in range(system.cache_count[side]):
        if overlaps(&system.cache[side][i], rid, first, last):
            system.cache[side][i].valid = 0


cdef bint set_register(Cpu* cpu, uint32_t side, uint32_t number, const TranslationEntry* entry) noexcept nogil:
    """itr: insert into a translation register. False: it overlaps another one, a machine check (table 4-1)."""
    cdef SystemState* system = cpu.system
    if any_register_overlaps(system, side, entry, number):
        return False
    drop_cached(system, side, entry.rid, entry.first, entry.last)
    system.registers[side][number] = entry[0]
    translations_changed(cpu, side)
    return True


cdef bint insert_translation(Cpu* cpu, uint32_t side, const TranslationEntry* entry) noexcept nogil:
    """itc, and the VHPT walker: insert into a translation cache; the oldest entry is replaced. False: it overlaps a
    translation register, a machine check for itc (table 4-1)."""
    cdef SystemState* system = cpu.system
    cdef TranslationEntry* place = NULL
    cdef uint32_t i
    if any_register_overlaps(system, side, entry, MAX_TRANSLATION_REGISTERS):
        return False
    drop_cached(system, side, entry.rid, entry.first, entry.last)
    for i in range(system.cache_count[side]):
        if not system.cache[side][i].valid:
            place = &system.cache[side][i]
            break
    if place == NULL:
        place = &system.cache[side][system.cache_next[side]]
        system.cache_next[side] = (system.cache_next[side] + 1) % system.cache_count[side]
    place[0] = entry[0]
    translations_changed(cpu, side)
    return True


cdef inline uint64_t last_of(uint64_t first, uint32_t bits) noexcept nogil:
    return first | ((<uint64_t>1 << bits) - 1) & REGION_OFFSET


cdef void purge_cache(Cpu* cpu, uint32_t side, uint32_t rid, uint64_t address, uint32_t bits) noexcept nogil:
    """ptc: drop the entries of a region in a translation cache that overlap 2^bits bytes at ``address``."""
    cdef uint64_t first = address & REGION_OFFSET & ~((<uint64_t>1 << bits) - 1)
    drop_cached(cpu.system, side, rid, first, last_of(first, bits))
    translations_changed(cpu, side)


cdef void purge_registers(Cpu* cpu, uint32_t side, uint64_t address, uint32_t bits) noexcept nogil:
    """ptr: the same of translation registers, and of the cache."""
    cdef SystemState* system = cpu.system
    cdef uint64_t first = address & REGION_OFFSET & ~((<uint64_t>1 << bits) - 1)
    cdef uint32_t rid = rid_of(system, address), i
    for i in range(system.register_count[side]):
        if overlaps(&system.registers[side][i], rid, first, last_of(first, bits)):
            system.registers[side][i].valid = 0
    purge_cache(cpu, side, rid, address, bits)


cdef void mark_purge(Cpu* cpu, uint32_t sides, uint32_t rid, uint64_t address, uint32_t bits) noexcept nogil:
    """Put a purge by the running instruction (cpu.index) into a traced stream; ``sides``: a bit for each."""
    if not cpu.traced:
        return
    append_mark(cpu, mark_word(Mark.PURGE, indexed(sides | bits << 2 | (rid & MARKED_RID) << 8, cpu.index)))
    address &= REGION_OFFSET & ~((<uint64_t>1 << bits) - 1)
    append_mark(cpu, mark_word(Mark.PURGE_ADDRESS, address >> 12))


cdef void purge_all(Cpu* cpu) noexcept nogil:
    """ptc.e: drop both translation caches."""
    memset(cpu.system.cache, 0, sizeof(cpu.system.cache))
    translations_changed(cpu, DATA_SIDE)
    translations_changed(cpu, INSTRUCTION_SIDE)


# --- the host-side translation cache

cdef inline void drop_entry(Cpu* cpu, uint32_t entry) noexcept nogil:
    cpu.tlb[entry].read_tag = 1 << 12
    cpu.tlb[entry].write_tag = 1 << 12


cdef void drop_filled(Cpu* cpu) noexcept nogil:
    """Drop all host-side translations."""
    cdef SystemState* system = cpu.system
    cdef uint32_t i
    if system.filled_count > MAX_FILLED:
        flush_tlb(cpu)
    else:
        for i in range(system.filled_count):
            drop_entry(cpu, system.filled[i])
    system.filled_count = system.privileged_count = 0


cdef void drop_privileged(Cpu* cpu) noexcept nogil:
    """Drop those that a higher privilege level filled."""
    cdef SystemState* system = cpu.system
    cdef uint32_t i
    if system.privileged_count > MAX_FILLED:
        drop_filled(cpu)
        return
    for i in range(system.privileged_count):
        drop_entry(cpu, system.privileged[i])
    system.privileged_count = 0


cdef void note_filled(Cpu* cpu, uint32_t entry) noexcept nogil:
    """List an entry of the host-side cache that was filled."""
    cdef SystemState* system = cpu.system
    if system.filled_count < MAX_FILLED:
        system.filled[system.filled_count] = <uint16_t>entry
    if system.filled_count <= MAX_FILLED:
        system.filled_count += 1
    if cpu.level == 3:
        return
    if system.privileged_count < MAX_FILLED:
        system.privileged[system.privileged_count] = <uint16_t>entry
    if system.privileged_count <= MAX_FILLED:
        system.privileged_count += 1
