"""Caches of an out-of-order core and the memory behind them: see hierarchy.pyx."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from pfmon.machine.tags cimport TagStore

cpdef enum Level:                # that had the line
    LEVEL_L1 = 0
    LEVEL_L2
    LEVEL_L3
    LEVEL_MEMORY

cdef enum:
    QUICK = 512                  # lines of which it is remembered that they are in L1D, and their pages in the TLB
    MOST_STREAMS = 64
    PAGE_SHIFT = 12

cdef struct Quick:
    uint64_t line                # + 1; 0: none
    uint32_t place               # in L1
    uint32_t page                # place of its page in the first-level TLB, which may have given it to another one

cdef struct Stream:              # lines of a page that were asked for one behind the other
    uint64_t page                # + 1; 0: none
    uint64_t line
    int32_t direction, sure

cdef struct Served:              # what became of an access
    int64_t ready                # cycle in which its data is there
    uint32_t level
    uint32_t references, misses  # of the last-level cache


cdef class Hierarchy:
    cdef readonly TagStore l1d, l1i, l2, l3
    cdef int64_t l1_latency, l2_latency, l3_latency, memory_latency, occupancy
    cdef int64_t bus_free        # cycle in which memory can take the next line
    cdef bint inclusive          # what leaves the last-level cache leaves the others
    cdef bint adjacent
    cdef uint32_t shift
    cdef int32_t degree          # lines that a stream fetches ahead; 0: there are no streams
    cdef uint32_t stream_count, next_stream
    cdef Stream streams[MOST_STREAMS]
    cdef Quick quick[QUICK]      # lines of L1D
    cdef Quick quick_code[QUICK] # ... of L1I

    # A line of data is asked for, which L1D may have; ``writes``: and becomes modified.
    cdef void data(self, uint64_t address, bint writes, int64_t now, Served* served) noexcept nogil
    # A line of instructions is asked for.
    cdef void fetch(self, uint64_t address, int64_t now, Served* served) noexcept nogil
    cdef void below(self, uint64_t address, int64_t now, bint demand, Served* served) noexcept nogil
    cdef void last_level(self, uint64_t address, int64_t now, bint demand, Served* served) noexcept nogil
    cdef int64_t from_memory(self, int64_t now) noexcept nogil
    cdef void follow_stream(self, uint64_t address, int64_t now) noexcept nogil
    cdef void prefetch(self, uint64_t address, int64_t now) noexcept nogil
    cdef void put(self, TagStore store, uint64_t address, int state, int64_t ready, int64_t now) noexcept nogil
    cdef int drop_above(self, uint64_t address) noexcept nogil
    cdef void modify(self, TagStore store, uint64_t address, int64_t now) noexcept nogil
    cdef void write_back(self, TagStore store, uint64_t address, int64_t now) noexcept nogil


cdef inline uint32_t slot_of(uint64_t line) noexcept nogil:
    return <uint32_t>(line & (QUICK - 1))
