"""The write-back buffer: lines waiting for the bus, by address: a snoop may hit one (Montecito manual 2.5)."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.queues cimport MOST_ENTRIES

cdef struct WaitingLines:
    uint64_t lines[MOST_ENTRIES]
    int64_t came[MOST_ENTRIES]
    int64_t leaves[MOST_ENTRIES]
    uint32_t next                # index of the next one; it is the oldest


cdef inline void wait_here(WaitingLines* waiting, uint64_t line, int64_t now, int64_t leaves) noexcept nogil:
    """Enters a line, which waits from ``now`` to ``leaves``."""
    cdef uint32_t place = waiting.next % MOST_ENTRIES
    waiting.lines[place], waiting.came[place], waiting.leaves[place] = line, now, leaves
    waiting.next = place + 1


cdef inline bint waits_here(const WaitingLines* waiting, uint64_t line, int64_t now) noexcept nogil:
    """Whether the line is in the buffer."""
    cdef uint32_t place
    for place in range(MOST_ENTRIES):
        if waiting.lines[place] == line and waiting.came[place] <= now < waiting.leaves[place]:
            return True
    return False
