"""A block's responses from memory, and its schedule: see core_timing.pyx."""

cimport cython
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t, uint64_t

from pfmon.machine._outoforder cimport (
    CoreBlock, CoreBlocks, CoreState, Delay, delays_of, END_MISPREDICTED, END_REDIRECTED, END_SOURCE_SHIFT, END_TAKEN,
    FROM_DECODERS, FROM_LOOP_BUFFER, FROM_UOP_CACHE, KnownSchedule,
    MAX_RESPONSES, RESPONSE_ALIASED, RESPONSE_BLOCKED, RESPONSE_BLOCKED_HERE, RESPONSE_FETCH,
    RESPONSE_FETCH_TRANSLATION, RESPONSE_FORWARDED, RESPONSE_FORWARDED_HERE, RESPONSE_BUS, RESPONSE_IN_FLIGHT, RESPONSE_WALK, RESPONSE_PAGE_SPLIT,
    RESPONSE_SECOND_LEVEL, RESPONSE_SPLIT, RESPONSE_STRING, RESPONSE_TRANSLATION, Response, ScheduleMemo,
    StoreTimes, core_accesses_of, run_known, schedule_key, stores_of)


cdef enum:
    CODE_WINDOW_SHIFT = 5        # log2 of the bytes of a window of the µop cache
    SHORT_LOOP = 12              # µops of a block that may be its own successor in the next cycle
    IN_FLIGHT_STEP = 16          # cycles to which the time until a line arrives is rounded, so that states recur


cdef struct BlockResponses:
    uint32_t count
    Response response[MAX_RESPONSES]


cdef inline void respond(BlockResponses* to, uint32_t access, uint32_t kind, int64_t value) noexcept nogil:
    """Notes what memory responded to an access of the block."""
    cdef Response* one = &to.response[to.count]
    one.access, one.kind, one.spare, one.value = access, kind, 0, <int32_t>value
    if to.count + 1 < MAX_RESPONSES:
        to.count += 1


cdef inline int64_t rounded(int64_t cycles) noexcept nogil:
    return (cycles + IN_FLIGHT_STEP - 1) // IN_FLIGHT_STEP * IN_FLIGHT_STEP
