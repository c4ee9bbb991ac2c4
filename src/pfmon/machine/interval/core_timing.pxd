"""A block's responses from memory, and its schedule: see core_timing.pyx."""

cimport cython
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t, uint64_t

from pfmon.machine._outoforder cimport (
    BlockTimes, CoreBlock, CoreBlocks, CoreTimeline, CycleDelay, END_MISPREDICTED, END_REDIRECTED, END_SOURCE_SHIFT, END_TAKEN,
    FROM_DECODERS, FROM_LOOP_BUFFER, FROM_UOP_CACHE, MAX_DELAYS, MAX_RESPONSES, OutOfOrderCore, RESPONSE_ALIASED, RESPONSE_BLOCKED, RESPONSE_BLOCKED_HERE, RESPONSE_FETCH,
    RESPONSE_FETCH_TRANSLATION, RESPONSE_FORWARDED, RESPONSE_FORWARDED_HERE, RESPONSE_BUS, RESPONSE_IN_FLIGHT, RESPONSE_IN_FLIGHT_HERE, RESPONSE_WALK, RESPONSE_PAGE_SPLIT,
    RESPONSE_OWNERSHIP, RESPONSE_SECOND_LEVEL, RESPONSE_SNOOP, RESPONSE_SPLIT, RESPONSE_STRING, RESPONSE_TRANSLATION, Response, StoreTimes, core_accesses_of)


cdef enum:
    MAX_MISSED_LINES = 32        # of a block; further ones are not told
    CODE_WINDOW_SHIFT = 5        # log2 of the bytes of a window of the µop cache
    LINE_OF_WINDOW_SHIFT = 60    # place of a line's number in its window, above the window's number
    SHORT_LOOP = 12              # µops of a block that may be its own successor in the next cycle


cdef struct BlockResponses:
    uint32_t count
    uint32_t missed              # lines of the block's accesses that missed L1D
    uint64_t missed_line[MAX_MISSED_LINES]
    uint32_t missed_access[MAX_MISSED_LINES]     # by which
    Response response[MAX_RESPONSES]


cdef inline void respond(BlockResponses* to, uint32_t access, uint32_t kind, int64_t value) noexcept nogil:
    """Notes what memory responded to an access of the block."""
    cdef Response* one = &to.response[to.count]
    one.access, one.kind, one.spare, one.value = access, kind, 0, <int32_t>value
    if to.count + 1 < MAX_RESPONSES:
        to.count += 1


cdef inline void note_miss(BlockResponses* to, uint64_t line, uint32_t access) noexcept nogil:
    """Notes the line of an access of the block that missed."""
    if to.missed < MAX_MISSED_LINES:
        to.missed_line[to.missed], to.missed_access[to.missed] = line, access
        to.missed += 1


cdef inline int32_t missed_by(const BlockResponses* of, uint64_t line) noexcept nogil:
    """Returns the access of the block that missed this line; negative: none."""
    cdef uint32_t i
    for i in range(of.missed):
        if of.missed_line[i] == line:
            return of.missed_access[i]
    return -1
