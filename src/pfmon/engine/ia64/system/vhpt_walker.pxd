"""The virtual hash page table (volume 2, 4.1.4 to 4.1.8)."""

from libc.stdint cimport uint32_t, uint64_t

cdef uint64_t vhpt_address(SystemState* system, uint64_t address) noexcept nogil
cdef uint64_t vhpt_tag(SystemState* system, uint64_t address) noexcept nogil
cdef bint unpack_entry(SystemState* system, uint64_t address, uint64_t pte, uint64_t itir,
                       TranslationEntry* to) noexcept nogil
cdef int walk_vhpt(Cpu* cpu, uint32_t side, uint64_t address, bint walks) noexcept nogil
