"""The state of an out-of-order core between two parts of blocks: when the values of registers are ready, how much work is
queued for each port and unit, and when the front end, dispatch, retirement and commits have come so far.

Those of registers and units have 32 bits, since an `epoch` that follows dispatch: so the times of a part are sums and maxima of short
vectors. A time before dispatch is as good as dispatch, so that none is lost.

A port takes the µops queued for it in the order of dispatch. The reorder buffer, the load buffer and the store buffer are left in
order, the reservation station when operands are ready. Of their occupants only those are kept that leave after the time
in which the buffer can be filled: before that there is always room.
"""

cimport cython
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #ifdef __SSE2__
    #include <emmintrin.h>
    #endif
    typedef int32_t pfmon_four __attribute__((vector_size(16), aligned(4)));
    static inline pfmon_four pfmon_four_at(const int32_t *values) { return *(const pfmon_four *)values; }
    static inline pfmon_four pfmon_four_of(int32_t value) { return (pfmon_four){value, value, value, value}; }
    static inline void pfmon_put_four(int32_t *to, pfmon_four values) { *(pfmon_four *)to = values; }
    static inline pfmon_four pfmon_later(pfmon_four a, pfmon_four b)
    {
        pfmon_four later = a > b;
        return (a & later) | (b & ~later);
    }
    static inline int pfmon_any_negative(pfmon_four values)
    {
    #ifdef __SSE2__
        return _mm_movemask_ps((__m128)values);
    #else
        return (values[0] | values[1] | values[2] | values[3]) < 0;
    #endif
    }
    """
    ctypedef int32_t Four "pfmon_four"
    Four four_at "pfmon_four_at"(const int32_t* values) noexcept nogil
    Four four_of "pfmon_four_of"(int32_t value) noexcept nogil
    void put_four "pfmon_put_four"(int32_t* to, Four values) noexcept nogil
    Four later_of "pfmon_later"(Four a, Four b) noexcept nogil
    bint any_negative "pfmon_any_negative"(Four values) noexcept nogil

cdef enum:
    CORE_REGISTERS = 64          # bits of RegisterMasks
    NO_OPERAND = CORE_REGISTERS  # in place of a register's number: always ready
    CORE_OPERANDS = 72
    CARRY_FLAG = 16
    OTHER_FLAGS = 17
    X87_REGISTER = 18            # the first of eight
    CORE_UNITS = 20              # execution ports, then units that are not pipelined
    UNIT_RING = 14               # lines from and to L3
    UNIT_WALKER = 15             # page walks
    UNIT_BUS = 16                # lines from and to memory
    UNIT_DIVIDER = 17
    UNIT_LOCK = 18               # locked accesses: one at a time
    UNIT_FILL = 19               # lines on their way to L1D: line fill buffers
    UNITS = CORE_OPERANDS        # in CoreState.ready: the first unit,
    GIVEN = UNITS + CORE_UNITS   # ... and the first time that memory gave
    MAX_GIVEN = 12
    CORE_TIMES = GIVEN + MAX_GIVEN
    QUARTER = 4                  # of a cycle: the unit of the front end's costs
    NEVER = -0x40000000          # a time before all others

cdef enum:
    REORDER_BUFFER = 0           # µops, until they retire
    RESERVATION_STATION          # µops that wait for their operands
    LOAD_BUFFER                  # loads, until they retire
    STORE_BUFFER                 # stores, until they are committed to L1D
    CORE_BUFFERS
    ALWAYS_ROOM = 1 << 30        # entries, for a buffer without occupants

# Times are ticks since the beginning; a tick is a fraction of a cycle (CoreFigures.ticks of them).
cdef struct CoreState:
    int32_t ready[CORE_TIMES]    # after `epoch`: values of registers; then units: they have done what is queued for them; then what memory gave
    int64_t epoch
    int64_t dispatch             # the next µop dispatches
    int64_t front_end            # the next block is decoded
    int64_t retired              # all instructions so far have retired
    int64_t committed            # ... and their stores are in L1D
    uint32_t front_cause         # DelayCause of the front end's delay

cdef struct Occupant:            # entries of a buffer that a part of a block takes
    int64_t leaves               # they are free again
    int32_t first                # number of the first of them, of all so far, modulo 2^32; of a station: their number

cdef struct CoreBuffer:
    int32_t size                 # entries
    int32_t held                 # entries of a station that are taken
    int64_t hidden               # ticks in which it cannot be filled
    Occupant* occupants          # those that leave late, a ring in the order in which they leave
    uint32_t mask                # of its places
    uint32_t oldest, newest


cdef inline int64_t until_room(CoreBuffer* buffer, int32_t entered, int32_t entries, int64_t now) noexcept nogil:
    """Returns when there is room for half of so many entries, not before ``now``: a part dispatches for some time."""
    cdef int32_t last = entered + (entries + 1) // 2 - buffer.size
    cdef const Occupant* one
    while buffer.oldest != buffer.newest:
        one = &buffer.occupants[buffer.oldest & buffer.mask]
        if one.leaves > now:
            if <int32_t>(one.first - last) >= 0:
                break
            now = one.leaves
        buffer.oldest += 1
    return now


cdef inline int32_t full_at(const CoreBuffer* buffer, int32_t entered) noexcept nogil:
    """Returns the number of the first entry for which there may be no room."""
    if buffer.oldest == buffer.newest:
        return entered + ALWAYS_ROOM
    return buffer.occupants[buffer.oldest & buffer.mask].first + buffer.size


cdef inline void enter(CoreBuffer* buffer, int32_t* full, int32_t entered, int32_t entries, int64_t stays,
                       int64_t leaves) noexcept nogil:
    """Takes entries behind those ``entered`` so far, that leave at a time; ``full``: of `full_at`."""
    cdef Occupant* one
    if stays <= buffer.hidden or entries == 0:
        return
    if buffer.newest - buffer.oldest > buffer.mask:      # more parts than entries
        buffer.oldest += 1
    one = &buffer.occupants[buffer.newest & buffer.mask]
    one.leaves, one.first = leaves, entered
    buffer.newest += 1
    if full[0] - entered > buffer.size:
        full[0] = entered + buffer.size


# A reservation station is left in the order in which operands are ready.
cdef inline int64_t until_station_has_room(CoreBuffer* station, int32_t entries, int64_t now) noexcept nogil:
    """Returns when there is room for half of so many entries, not before ``now``."""
    cdef int32_t most = station.size - (entries + 1) // 2
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


cdef inline void enter_station(CoreBuffer* station, int32_t* full, int32_t entries, int64_t stays,
                               int64_t leaves) noexcept nogil:
    """Takes entries that leave at a time; ``full``: free ones."""
    cdef uint32_t place = station.newest
    if stays <= station.hidden or entries == 0:
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
    full[0] = station.size - station.held
