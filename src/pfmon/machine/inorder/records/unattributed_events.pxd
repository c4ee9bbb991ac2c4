"""Unattributed events, which belong to no cycle with an issue: see unattributed_events.pyx."""

from libc.stdint cimport uint32_t, uint64_t


cdef enum:
    UNATTRIBUTED_SHIFT = 9
    UNATTRIBUTED_PARTS = 1 << UNATTRIBUTED_SHIFT
    UNATTRIBUTED_EVENTS = 13

cdef struct UnattributedPart:    # a part of events alone, as it was recorded last: 128 bytes
    uint64_t code                # Part.code
    uint64_t items[UNATTRIBUTED_EVENTS]
    uint32_t count               # 0: none
    uint32_t part

# Records them as events of an instruction of a block; ``unattributed``: UNATTRIBUTED_PARTS of them, by contents.
cdef void write_unattributed_events(UnattributedPart* unattributed, EventLog* event_log, Records records,
                                    uint64_t number,
                            uint32_t instruction) noexcept nogil
