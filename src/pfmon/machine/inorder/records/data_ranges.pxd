"""The programmed data ranges."""

from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    PAIRS = 4                    # of data breakpoint registers

cdef struct DataRanges:
    uint32_t count
    uint64_t places[PAIRS]
    uint64_t masks[PAIRS]


cdef inline uint64_t in_ranges(const DataRanges* ranges, uint64_t address) noexcept nogil:
    """Returns 1 if the address is in one of them."""
    cdef uint32_t number
    for number in range(ranges.count):
        if address & ranges.masks[number] == ranges.places[number]:
            return 1
    return 0


cdef inline int set_ranges(DataRanges* ranges, pairs) except -1:
    """Sets the ranges; ``pairs``: (address, mask) each, None for none. ValueError: too many."""
    cdef uint32_t number
    pairs = pairs or ()
    if len(pairs) > PAIRS:
        raise ValueError(f"{len(pairs)} data ranges: there are {PAIRS} pairs of registers")
    ranges.count = len(pairs)
    for number, (address, mask) in enumerate(pairs):
        ranges.places[number], ranges.masks[number] = address & mask, mask
    return 0
