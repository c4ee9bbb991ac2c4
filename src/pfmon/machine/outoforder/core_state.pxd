"""The state of an out-of-order core between two parts of blocks: when the values of registers are ready, how much work is
queued for each port and unit, and when the front end, dispatch, retirement and commits have come so far.

A port takes the µops queued for it in the order of dispatch. The reorder buffer, the load buffer and the store buffer are left in
order, the reservation station when operands are ready. Of their occupants only those are kept that leave after the time
in which the buffer can be filled: before that there is always room.
"""

cimport cython
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    CORE_REGISTERS = 64          # bits of RegisterMasks
    NO_OPERAND = CORE_REGISTERS  # in place of a register's number: always ready
    CORE_OPERANDS = 72
    CARRY_FLAG = 16
    OTHER_FLAGS = 17
    X87_REGISTER = 18            # the first of eight
    CORE_UNITS = 16              # execution ports, then units that are not pipelined
    UNIT_RING = 10               # lines from and to L3
    UNIT_WALKER = 11             # page walks
    UNIT_BUS = 12                # lines from and to memory
    UNIT_DIVIDER = 13
    UNIT_LOCK = 14               # locked accesses: one at a time
    UNIT_FILL = 15               # lines on their way to L1D: line fill buffers
    QUARTER = 4                  # of a cycle: the unit of the front end's costs
    NEVER = -0x40000000          # a time before all others

cdef enum:
    REORDER_BUFFER = 0           # µops, until they retire
    RESERVATION_STATION          # µops that wait for their operands
    LOAD_BUFFER                  # loads, until they retire
    STORE_BUFFER                 # stores, until they are committed to L1D
    CORE_BUFFERS

# Times are ticks since the beginning; a tick is a fraction of a cycle (CoreFigures.ticks of them).
cdef struct CoreState:
    int64_t registers[CORE_OPERANDS]  # their values are ready
    int64_t units[CORE_UNITS]    # they have done what is queued for them
    int64_t dispatch             # the next µop dispatches
    int64_t front_end            # the next block is decoded
    int64_t retired              # all instructions so far have retired
    int64_t committed            # ... and their stores are in L1D
    uint32_t front_cause         # DelayCause of the front end's delay

cdef struct Occupant:            # entries of a buffer that a part of a block takes
    int64_t leaves               # they are free again
    int64_t first                # number of the first of them, of all so far; of a station: their number

cdef struct CoreBuffer:
    int64_t size                 # entries
    int64_t hidden               # ticks in which it cannot be filled
    int64_t held                 # entries of a station that are taken
    Occupant* occupants          # those that leave late, a ring in the order in which they leave
    uint32_t mask                # of its places
    uint32_t oldest, newest


cdef inline bint is_occupied(const CoreBuffer* buffer) noexcept nogil:
    return buffer.oldest != buffer.newest


cdef inline int64_t until_room(CoreBuffer* buffer, int64_t entered, int64_t entries, int64_t now) noexcept nogil:
    """Returns when there is room for half of so many entries, not before ``now``: a part dispatches for some time."""
    cdef int64_t last = entered + (entries + 1) // 2 - buffer.size
    cdef const Occupant* one
    while buffer.oldest != buffer.newest:
        one = &buffer.occupants[buffer.oldest & buffer.mask]
        if one.leaves > now:
            if one.first >= last:
                break
            now = one.leaves
        buffer.oldest += 1
    return now


cdef inline void enter(CoreBuffer* buffer, int64_t entered, int64_t entries, int64_t now, int64_t leaves) noexcept nogil:
    """Takes entries behind those ``entered`` so far, that leave at a time."""
    cdef Occupant* one
    if leaves - now <= buffer.hidden or entries == 0:
        return
    if buffer.newest - buffer.oldest > buffer.mask:      # more parts than entries
        buffer.oldest += 1
    one = &buffer.occupants[buffer.newest & buffer.mask]
    one.leaves, one.first = leaves, entered
    buffer.newest += 1


# A reservation station is left in the order in which operands are ready.
cdef inline int64_t until_station_has_room(CoreBuffer* station, int64_t entries, int64_t now) noexcept nogil:
    """Returns when there is room for half of so many entries, not before ``now``."""
    cdef int64_t most = station.size - (entries + 1) // 2
    cdef const Occupant* one
    while station.oldest != station.newest:
        one = &station.occupants[station.oldest & station.mask]
        if one.leaves > now:
            if station.held <= most:
                break
            now = one.leaves
        station.held -= one.first
        station.oldest += 1
    return now


cdef inline void enter_station(CoreBuffer* station, int64_t entries, int64_t now, int64_t leaves) noexcept nogil:
    """Takes entries that leave at a time."""
    cdef uint32_t place = station.newest
    if leaves - now <= station.hidden or entries == 0:
        return
    if station.newest - station.oldest > station.mask:
        station.held -= station.occupants[station.oldest & station.mask].first
        station.oldest += 1
    while place != station.oldest and station.occupants[(place - 1) & station.mask].leaves > leaves:
        station.occupants[place & station.mask] = station.occupants[(place - 1) & station.mask]
        place -= 1
    station.occupants[place & station.mask].leaves, station.occupants[place & station.mask].first = leaves, entries
    station.held += entries
    station.newest += 1
