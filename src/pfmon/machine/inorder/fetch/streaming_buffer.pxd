"""The streaming buffer in front of L1I: lines prefetched, or received with others, and not fetched yet."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef extern from *:
    const uint64_t NO_LINE "UINT64_MAX"

cdef enum:
    MAX_BUFFERED_LINES = 16
    LINE_CLASSES = 64            # of lines, by low bits
    CLASS_SHIFT = 5              # ... of their addresses, above those within the shortest line

cdef struct Buffered:            # a line in the buffer, or in flight to it
    uint64_t line                # address; NO_LINE
    int64_t ready

cdef struct StreamingBuffer:
    uint32_t size, next
    Buffered lines[MAX_BUFFERED_LINES]
    uint8_t counts[LINE_CLASSES] # number of lines of a class: mostly 0


cdef inline uint32_t line_class(uint64_t line) noexcept nogil:
    return <uint32_t>(line >> CLASS_SHIFT) & (LINE_CLASSES - 1)


cdef inline void start_buffer(StreamingBuffer* buffer, uint32_t size) noexcept nogil:
    """Initializes an empty buffer. ``size``: up to MAX_BUFFERED_LINES (figures.csv)."""
    cdef uint32_t i
    buffer.size = size
    for i in range(MAX_BUFFERED_LINES):
        buffer.lines[i].line = NO_LINE


cdef inline Buffered* find_buffered(StreamingBuffer* buffer, uint64_t line) noexcept nogil:
    """Returns a line's entry; NULL: it has none."""
    cdef uint32_t i
    if buffer.counts[line_class(line)] == 0:
        return NULL
    for i in range(buffer.size):
        if buffer.lines[i].line == line:
            return &buffer.lines[i]
    return NULL


cdef inline void leave_buffer(StreamingBuffer* buffer, Buffered* entry) noexcept nogil:
    """Removes the entry's line."""
    buffer.counts[line_class(entry.line)] -= 1
    entry.line = NO_LINE


cdef inline uint64_t enter_buffer(StreamingBuffer* buffer, uint64_t line, int64_t ready, int64_t now) noexcept nogil:
    """Enters a line in place of the oldest one that has arrived. Returns the evicted line, or NO_LINE."""
    cdef uint32_t i, index = buffer.next
    cdef uint64_t evicted
    for i in range(buffer.size):
        index = (buffer.next + i) % buffer.size
        if buffer.lines[index].line == NO_LINE or buffer.lines[index].ready <= now:
            break
    evicted = buffer.lines[index].line
    if evicted != NO_LINE:
        leave_buffer(buffer, &buffer.lines[index])
    buffer.lines[index].line = line
    buffer.lines[index].ready = ready
    buffer.counts[line_class(line)] += 1
    buffer.next = (index + 1) % buffer.size
    return evicted
