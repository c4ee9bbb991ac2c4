"""Patterns of responses to a part of a block: what memory did, without the times that it gave.

The times of a part are sums and maxima for each pattern; it has a graph for those that come often (part_graph.pyx). A time that memory
gives, such as that of a store's data, is a source of it.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    MAX_PATTERN = MAX_GIVEN      # responses
    UNLIKE_ALL = 0               # in place of a pattern's hash

cdef struct Pattern:
    uint32_t count
    uint64_t hash
    uint64_t word[MAX_PATTERN]   # responses, with 0 in place of times


cdef inline bint gives_time(const CorePart* part, const Response* response) noexcept nogil:
    """Tests whether a response gives a time: that of a line, or of a store before the part."""
    if response.kind == RESPONSE_IN_FLIGHT or response.kind == RESPONSE_FORWARDED or response.kind == RESPONSE_BLOCKED:
        return True
    return (response.kind == RESPONSE_IN_FLIGHT_HERE or response.kind == RESPONSE_FORWARDED_HERE
            or response.kind == RESPONSE_BLOCKED_HERE) and response.value < part.first_access


cdef inline bint has_graph(const CorePart* part, const Response* response) noexcept nogil:
    """Tests whether times with a response are sums and maxima."""
    if response.kind >= RESPONSE_FETCH:
        return response.kind >= RESPONSE_SNOOP
    return response.kind != RESPONSE_BLOCKED_HERE or response.value < part.first_access


cdef inline uint64_t word_of(const CorePart* part, const Response* response) noexcept nogil:
    """Returns a response as a word, without the time that it gives."""
    cdef uint64_t word = response.access | <uint64_t>response.kind << 16
    return word if gives_time(part, response) else word | <uint64_t><uint32_t>response.value << 32


cdef inline Response response_of(uint64_t word) noexcept nogil:
    """Returns the response of a word."""
    cdef Response one
    one.access, one.kind, one.spare, one.value = word & 0xFFFF, <uint8_t>(word >> 16), 0, <int32_t>(word >> 32)
    return one


cdef inline bint read_pattern(const CorePart* part, const Response* response, uint32_t count, Pattern* to) noexcept nogil:
    """Reads the pattern of the responses to a part, the first ones of those given; False: it cannot have a graph."""
    cdef uint64_t hash = UNLIKE_ALL + 1
    cdef uint32_t i = 0
    while i < count and response.access < part.end_access:
        if i == MAX_PATTERN or not has_graph(part, response):
            return False
        to.word[i] = word_of(part, response)
        hash = mixed(hash, to.word[i])
        response, i = response + 1, i + 1
    to.count, to.hash = i, hash
    return True


cdef inline int64_t given_time(const BlockTimes* times, const Response* response) noexcept nogil:
    """Returns the time that a response gives."""
    if response.kind == RESPONSE_IN_FLIGHT_HERE:
        return times.line[response.value]
    if response.kind == RESPONSE_FORWARDED_HERE:
        return times.store[response.value].ready
    if response.kind == RESPONSE_BLOCKED_HERE:
        return times.store[response.value].committed
    return times.began + response.value


cdef inline void take_times(CoreState* state, BlockTimes* times, const CorePart* part, const Response* responses,
                            uint32_t count) noexcept nogil:
    """Takes the times that responses to a part give, as sources of its graph."""
    cdef uint32_t given = GIVEN, i
    for i in range(count):
        if gives_time(part, &responses[i]):
            state.ready[given] = <int32_t>max(given_time(times, &responses[i]) - state.epoch, <int64_t>NEVER)
            given += 1
    times.response += count
