"""The write-back buffer: lines that wait for the bus; a snoop may hit them (Montecito manual 2.5)."""

from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef struct WritebackBuffer:
    uint64_t lines[MAX_QUEUE_ENTRIES]
    int64_t entered[MAX_QUEUE_ENTRIES]
    int64_t leaves[MAX_QUEUE_ENTRIES]
    uint32_t next                # index of the next line, which replaces the oldest


cdef inline void enter_writeback(WritebackBuffer* waiting, uint64_t line, int64_t now, int64_t leaves) noexcept nogil:
    """Enters a line, which waits from ``now`` to ``leaves``."""
    cdef uint32_t index = waiting.next % MAX_QUEUE_ENTRIES
    waiting.lines[index], waiting.entered[index], waiting.leaves[index] = line, now, leaves
    waiting.next = index + 1


cdef inline bint has_writeback(const WritebackBuffer* waiting, uint64_t line, int64_t now) noexcept nogil:
    """Whether the line is in the buffer."""
    cdef uint32_t index
    for index in range(MAX_QUEUE_ENTRIES):
        if waiting.lines[index] == line and waiting.entered[index] <= now < waiting.leaves[index]:
            return True
    return False
