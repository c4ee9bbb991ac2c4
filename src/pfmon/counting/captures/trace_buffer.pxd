"""Format of the branch trace buffer's entries (Montecito manual tables 3-27 to 3-29)."""

from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    MAX_TRACE_ENTRIES = 16
    SOURCE = 1                   # s: bit 0 of an entry
    MISPREDICTED = 2             # mp: bit 1; of a target: valid
    SLOT_SHIFT = 2
    NOT_TAKEN = 3                # instead of the slot
    SECOND_BUNDLE = 1            # b1: bit 0 of an extension
    FLUSHED = 2                  # bruflush: bit 1

cdef struct TraceBuffer:
    uint32_t size                # entries
    uint32_t next                # index of the next write
    bint full                    # the buffer has wrapped
    uint64_t entries[MAX_TRACE_ENTRIES]
    uint32_t extensions[MAX_TRACE_ENTRIES]


cdef inline void write_entry(TraceBuffer* buffer, uint64_t entry, uint32_t extension) noexcept nogil:
    buffer.entries[buffer.next] = entry
    buffer.extensions[buffer.next] = extension
    buffer.next += 1
    if buffer.next == buffer.size:
        buffer.next = 0
        buffer.full = True


cdef inline uint64_t source_entry(uint64_t address, bint taken, bint mispredicted) noexcept nogil:
    """Returns the entry of a branch at bundle | slot."""
    return (address & ~<uint64_t>15 | (address & 3 if taken else <uint64_t>NOT_TAKEN) << SLOT_SHIFT
            | (<uint64_t>MISPREDICTED if mispredicted else 0) | SOURCE)


cdef inline uint64_t target_entry(uint64_t address) noexcept nogil:
    return address & ~<uint64_t>15 | MISPREDICTED


cdef inline void rewrite_source(TraceBuffer* buffer, uint64_t entry, uint32_t extension) noexcept nogil:
    """Merges a branch into the entry written last, of the same bundle and cycle: it holds the first taken one, and
    whether one was mispredicted."""
    buffer.next = (buffer.next if buffer.next else buffer.size) - 1
    entry |= buffer.entries[buffer.next] & MISPREDICTED
    extension |= buffer.extensions[buffer.next]
    write_entry(buffer, entry, extension)
