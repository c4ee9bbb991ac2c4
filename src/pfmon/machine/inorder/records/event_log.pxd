"""The event log: events of the instructions that issue in one cycle, for the records (records.pyx).

A mechanism records an event when it happens; the pipeline has set the instruction that it belongs to.
"""

from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    MAX_LOGGED_EVENTS = 4096     # of a cycle: the register stack engine may move all registers in one
    MAX_EVENT_TIMES = 0xFFFF     # of one entry
    OCCURRENCE_BITS = 16         # an entry: bits 0-15 occurrence, 16-31 times, 32-39 instruction, 40 in a data range
    EVENT_INSTRUCTION_SHIFT = 32
    EVENT_RANGED_SHIFT = 40

cdef struct EventLog:
    uint64_t items[MAX_LOGGED_EVENTS]
    uint32_t count
    bint lost                    # sticky: an event could not be recorded
    uint64_t context             # instruction << EVENT_INSTRUCTION_SHIFT | in a data range << EVENT_RANGED_SHIFT


cdef inline void put_event(EventLog* event_log, uint64_t what, uint64_t times) noexcept nogil:
    """Appends an entry. When the log is full, adds to an equal entry."""
    cdef uint32_t i
    cdef uint64_t known
    if event_log.count < MAX_LOGGED_EVENTS:
        event_log.items[event_log.count] = what | times << OCCURRENCE_BITS
        event_log.count += 1
        return
    for i in range(event_log.count):
        known = event_log.items[i] >> OCCURRENCE_BITS & MAX_EVENT_TIMES
        if event_log.items[i] & ~(<uint64_t>MAX_EVENT_TIMES << OCCURRENCE_BITS) == what \
                and known + times <= MAX_EVENT_TIMES:
            event_log.items[i] += times << OCCURRENCE_BITS
            return
    event_log.lost = 1


cdef inline void record(EventLog* event_log, uint32_t occurrence, uint32_t times) noexcept nogil:
    """Records ``occurrence`` (occurrences.pxd) ``times`` times for the current instruction."""
    while times > MAX_EVENT_TIMES:           # such as cycles of a stall: in several entries
        put_event(event_log, event_log.context | occurrence, MAX_EVENT_TIMES)
        times -= MAX_EVENT_TIMES
    put_event(event_log, event_log.context | occurrence, times)


cdef inline list recorded(const EventLog* event_log):
    """The entries as (occurrence, times), for tests and tools."""
    cdef uint64_t mask = (1 << OCCURRENCE_BITS) - 1
    return [(event_log.items[i] & mask, event_log.items[i] >> OCCURRENCE_BITS & mask) for i in range(event_log.count)]
