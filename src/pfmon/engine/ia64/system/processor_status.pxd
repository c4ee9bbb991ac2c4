"""The processor status register (volume 2, 3.3.2)."""

from libc.stdint cimport uint64_t

cdef uint64_t psr_of(Cpu* cpu) noexcept nogil
cdef void set_psr(Cpu* cpu, uint64_t value) noexcept nogil
cdef void update_mode(Cpu* cpu) noexcept nogil
cdef void set_bank(Cpu* cpu, uint32_t bank) noexcept nogil
cdef void set_level(Cpu* cpu, uint32_t level) noexcept nogil


cdef inline bint at_level_0(Cpu* cpu) noexcept nogil:
    """Whether privileged instructions execute: system mode, at privilege level 0."""
    return cpu.level == 0


cdef inline bint psr_bit(Cpu* cpu, uint64_t bit) noexcept nogil:
    """Whether a bit of PSR beyond the user mask is set; False in user mode."""
    return cpu.system != NULL and cpu.system.psr & bit != 0


cdef inline bint stepping(SystemState* system) noexcept nogil:
    """Whether PSR makes the next instruction different from those after it, or traps follow each instruction."""
    return system.psr & (PSR_ID | PSR_DA | PSR_DD | PSR_IA | PSR_ED | PSR_SS | PSR_TB | PSR_DB) != 0
