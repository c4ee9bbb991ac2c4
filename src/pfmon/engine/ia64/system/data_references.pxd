"""Data references in system mode: translation with its faults, memory and devices."""

from libc.stdint cimport uint32_t, uint64_t, uint8_t

cdef enum:                       # rights of a page, as PROTECT_READ and so on; and:
    RIGHT_PROMOTE = 8            # epc raises the privilege level to that of the page

cdef struct DataReference:
    uint64_t address
    uint32_t rights              # PROTECT_READ, PROTECT_WRITE
    uint32_t level               # privilege level at which it is made
    bint virtual
    bint walks                   # the VHPT walker may search
    uint32_t deferrable          # DCR bits of faults that are deferred

cdef uint32_t rights_of(const TranslationEntry* entry, uint32_t level) noexcept nogil
cdef int translate_data(Cpu* cpu, const DataReference* reference, TranslationEntry* to, uint32_t size) noexcept nogil
cdef uint8_t* system_data(Cpu* cpu, uint64_t address, uint32_t rights) noexcept nogil
cdef uint8_t* system_read(Cpu* cpu, uint64_t address, uint32_t size, uint32_t alignment) noexcept nogil
cdef int system_write(Cpu* cpu, uint64_t address, const uint8_t* data, uint32_t size, uint32_t alignment) noexcept nogil
cdef uint8_t* system_aligned(Cpu* cpu, uint64_t address, uint32_t size, uint32_t rights) noexcept nogil
cdef uint8_t* speculative_data(Cpu* cpu, Op* op, uint64_t address, uint32_t size) noexcept nogil
cdef int backing_store_word(Cpu* cpu, uint64_t address, uint64_t* value, bint write) noexcept nogil
cdef uint8_t* physical_memory(Cpu* cpu, uint64_t physical, bint write) noexcept nogil
cdef uint64_t default_itir(SystemState* system, uint64_t address) noexcept nogil
