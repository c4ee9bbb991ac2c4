"""A port that is occupied for some cycles at a time, by requests in any order of cycles."""

from libc.stdint cimport int64_t, uint32_t

cdef enum:
    MAX_OCCUPATIONS = 32         # latest occupations: requests come later than all older ones

cdef struct BusyPort:
    int64_t cycles               # of each occupation
    uint32_t count
    int64_t taken[MAX_OCCUPATIONS]  # first cycles, ascending


cdef inline void start_port(BusyPort* port, int64_t cycles) noexcept nogil:
    port.cycles = cycles
    port.count = 0


cdef inline int64_t occupy(BusyPort* port, int64_t now) noexcept nogil:
    """Occupies the port in the first free cycles from ``now`` on; returns the first of them."""
    cdef uint32_t index = port.count, i
    while index > 0 and port.taken[index - 1] + port.cycles > now:
        index -= 1
    while index < port.count and port.taken[index] < now + port.cycles:
        now = port.taken[index] + port.cycles
        index += 1
    if port.count == MAX_OCCUPATIONS:
        if index == 0:
            return now
        for i in range(1, index):
            port.taken[i - 1] = port.taken[i]
        port.taken[index - 1] = now
        return now
    i = port.count
    while i > index:
        port.taken[i] = port.taken[i - 1]
        i -= 1
    port.taken[index] = now
    port.count += 1
    return now
