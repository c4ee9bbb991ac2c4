"""The event log: events of the instructions that issue in one cycle, for the records (records.pyx).

A mechanism records an event when it happens; the pipeline has set the instruction that it belongs to.
"""

from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    MOST_NOTES = 4096            # of a cycle: the register stack engine may move all registers in one
    MOST_TIMES = 0xFFFF          # of one entry
    OCCURRENCE_BITS = 16         # an entry: bits 0-15 occurrence, 16-31 times, 32-39 instruction, 40 in a data range
    NOTE_INSTRUCTION = 32
    NOTE_RANGED = 40

cdef struct Notes:
    uint64_t items[MOST_NOTES]
    uint32_t count
    bint lost                    # sticky: an event could not be recorded
    uint64_t context             # instruction << NOTE_INSTRUCTION | in a data range << NOTE_RANGED


cdef inline void put_note(Notes* notes, uint64_t what, uint64_t times) noexcept nogil:
    """Appends an entry. When the log is full, adds to an equal entry."""
    cdef uint32_t i
    cdef uint64_t known
    if notes.count < MOST_NOTES:
        notes.items[notes.count] = what | times << OCCURRENCE_BITS
        notes.count += 1
        return
    for i in range(notes.count):
        known = notes.items[i] >> OCCURRENCE_BITS & MOST_TIMES
        if notes.items[i] & ~(<uint64_t>MOST_TIMES << OCCURRENCE_BITS) == what and known + times <= MOST_TIMES:
            notes.items[i] += times << OCCURRENCE_BITS
            return
    notes.lost = 1


cdef inline void note(Notes* notes, uint32_t occurrence, uint32_t times) noexcept nogil:
    """Records ``occurrence`` (occurrences.pxd) ``times`` times for the current instruction."""
    while times > MOST_TIMES:                # such as cycles of a stall: in several entries
        put_note(notes, notes.context | occurrence, MOST_TIMES)
        times -= MOST_TIMES
    put_note(notes, notes.context | occurrence, times)


cdef inline list noted(const Notes* notes):
    """The entries as (occurrence, times), for tests and tools."""
    cdef uint64_t mask = (1 << OCCURRENCE_BITS) - 1
    return [(notes.items[i] & mask, notes.items[i] >> OCCURRENCE_BITS & mask) for i in range(notes.count)]
