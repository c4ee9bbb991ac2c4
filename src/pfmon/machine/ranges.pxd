"""The data ranges that are programmed: accesses in them are noted as such."""

from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    PAIRS = 4                    # of data breakpoint registers

cdef struct Ranges:
    uint32_t count
    uint64_t places[PAIRS]
    uint64_t masks[PAIRS]


cdef inline uint64_t in_ranges(const Ranges* ranges, uint64_t address) noexcept nogil:
    """1 if the address is in one of them."""
    cdef uint32_t number
    for number in range(ranges.count):
        if address & ranges.masks[number] == ranges.places[number]:
            return 1
    return 0
