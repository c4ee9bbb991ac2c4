"""Flushes of whole caches by firmware: see cache_flush.pyx."""

cimport cython
from libc.stdint cimport uint64_t

cdef enum:                       # value of a CACHE_FLUSH: cache_type in bits 0-2 (volume 2, 11.10.3)
    FLUSH_CODE = 1               # caches that hold instructions
    FLUSH_DATA = 2               # ... data
    FLUSH_COHERENT = 4           # caches of instructions alone
    FLUSH_INVALIDATES = 1 << 3   # the lines become invalid, else clean

cdef void flush_caches(DataMemory data, InstructionFetch fetch, L2 l2, uint64_t value) noexcept nogil
