"""Instruction fetch in system mode."""

from libc.stdint cimport uint32_t, uint64_t, uint8_t

cdef int fetch_page(Cpu* cpu, uint64_t address) noexcept nogil
cdef bint implemented_instruction(Cpu* cpu, uint64_t address) noexcept nogil
cdef bint code_deferral(Cpu* cpu) noexcept nogil
cdef TranslationEntry* code_page_entry(Cpu* cpu) noexcept nogil
cdef bint instruction_breakpoint(Cpu* cpu, uint64_t address) noexcept nogil
