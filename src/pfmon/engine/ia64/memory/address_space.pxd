"""The memory of one guest process."""

cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t


@cython.final
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
