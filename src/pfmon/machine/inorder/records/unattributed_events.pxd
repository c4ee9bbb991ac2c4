"""Unattributed events, of no cycle with an issue: recorded as a part without instructions."""

from libc.stdint cimport uint32_t, uint64_t


cdef extern from *:
    const uint64_t SPREAD "UINT64_C(0x9E3779B97F4A7C15)"

cdef enum:
    UNATTRIBUTED_SHIFT = 9
    UNATTRIBUTED_PARTS = 1 << UNATTRIBUTED_SHIFT
    UNATTRIBUTED_EVENTS = 13

cdef struct UnattributedPart:    # a part of events alone, as it was recorded last: 128 bytes
    uint64_t code                # Part.code
    uint64_t items[UNATTRIBUTED_EVENTS]
    uint32_t count               # 0: none
    uint32_t part


cdef inline void write_unattributed_events(UnattributedPart* unattributed, EventLog* event_log, Records records,
                                           uint64_t number, uint32_t instruction) noexcept nogil:
    """Records them as events of an instruction of a block; ``unattributed``: UNATTRIBUTED_PARTS of them, by
    contents."""
    cdef uint64_t code = number | <uint64_t>1 << 32 | <uint64_t>instruction << 48, sum = code
    cdef UnattributedPart* known
    cdef uint32_t i, count = event_log.count
    cdef bint same
    if count == 0:
        return
    for i in range(count):
        sum += event_log.items[i] << i
    known = &unattributed[sum * SPREAD >> (64 - UNATTRIBUTED_SHIFT)]
    same = known.code == code and known.count == count
    for i in range(count if same else 0):
        same &= known.items[i] == event_log.items[i]
    if not same:
        known.code, known.count = code, count if count <= UNATTRIBUTED_EVENTS else 0
        for i in range(known.count):
            known.items[i] = event_log.items[i]
        known.part = records.part(code, 0, 0, 0, records.event_list(event_log))
    event_log.count = 0
    records.add_cycle(known.part)
