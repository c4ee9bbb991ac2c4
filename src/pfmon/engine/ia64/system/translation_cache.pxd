"""Translation registers and translation caches (volume 2, 4.1.1)."""

from libc.stdint cimport uint32_t, uint64_t

cdef TranslationEntry* find_translation(SystemState* system, uint32_t side, uint64_t address) noexcept nogil
cdef bint set_register(Cpu* cpu, uint32_t side, uint32_t number, const TranslationEntry* entry) noexcept nogil
cdef bint insert_translation(Cpu* cpu, uint32_t side, const TranslationEntry* entry) noexcept nogil
cdef void purge_cache(Cpu* cpu, uint32_t side, uint32_t rid, uint64_t address, uint32_t bits) noexcept nogil
cdef void purge_registers(Cpu* cpu, uint32_t side, uint64_t address, uint32_t bits) noexcept nogil
cdef void mark_purge(Cpu* cpu, uint32_t sides, uint32_t rid, uint64_t address, uint32_t bits) noexcept nogil
cdef void purge_all(Cpu* cpu) noexcept nogil
cdef void drop_filled(Cpu* cpu) noexcept nogil
cdef void drop_privileged(Cpu* cpu) noexcept nogil
cdef void note_filled(Cpu* cpu, uint32_t entry) noexcept nogil
cdef bint implemented_virtual(SystemState* system, uint64_t address) noexcept nogil
cdef bint implemented_physical(SystemState* system, uint64_t address) noexcept nogil


cdef inline uint32_t region_of(uint64_t address) noexcept nogil:
    """The number of an address's region register."""
    return <uint32_t>(address >> 61)


cdef inline uint32_t rid_of(SystemState* system, uint64_t address) noexcept nogil:
    """The region identifier of an address (volume 2, figure 4-7)."""
    return <uint32_t>(system.rr[region_of(address)] >> 8) & 0xFFFFFF


cdef inline uint32_t preferred_size(SystemState* system, uint64_t address) noexcept nogil:
    """The preferred page size of an address's region, as a power of two."""
    return <uint32_t>(system.rr[region_of(address)] >> 2) & 0x3F
