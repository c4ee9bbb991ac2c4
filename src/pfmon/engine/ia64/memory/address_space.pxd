"""The memory of one guest process."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from pfmon.engine.ia64.core.cpu cimport Cpu
from pfmon.engine.ia64.memory.memory_map cimport MemoryMap

cdef class AddressSpace:
    cdef MemoryMap c
    cdef Cpu* cpu
    cdef list extents
    cdef readonly uint64_t limit
    cdef readonly uint64_t mapped
    cdef attach(self, Cpu* cpu)
    cdef _publish(self)
    cdef _copy(self, uint64_t address, uint8_t* data, uint64_t length, uint32_t protection, bint write)
    cdef _put(self, uint64_t start, uint8_t* data, uint64_t length, protection)
