"""Sets of lines, or of pages, as vectors of 32 bits, the most recent first: see recency_sets.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memmove

cdef extern from *:
    """
    #include <stdint.h>
    #ifdef __SSE2__
    #include <emmintrin.h>
    /* The place of a line in a set of `stride` elements, a multiple of four, whether modified or not; stride: none. */
    static inline uint32_t pfmon_place(const uint32_t *set, uint32_t stride, uint32_t line)
    {
        const __m128i wanted = _mm_set1_epi32((int)(line << 1 | 1)), modified = _mm_set1_epi32(1);
        for (uint32_t at = 0; at < stride; at += 4) {
            __m128i some = _mm_or_si128(_mm_loadu_si128((const __m128i *)(set + at)), modified);
            uint32_t bits = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi32(some, wanted));
            if (bits)
                return at + ((uint32_t)__builtin_ctz(bits) >> 2);
        }
        return stride;
    }
    #else
    static inline uint32_t pfmon_place(const uint32_t *set, uint32_t stride, uint32_t line)
    {
        for (uint32_t at = 0; at < stride; at++)
            if ((set[at] | 1) == (line << 1 | 1))
                return at;
        return stride;
    }
    #endif
    """
    uint32_t place_in_set "pfmon_place"(const uint32_t* members, uint32_t stride, uint32_t line) nogil


cdef enum:
    MAX_MEMBERS = 64             # of a set, for one that is copied; larger ones are moved

cdef struct RecencyRows:
    uint32_t* members            # of each set, `stride` of them: line << 1, plus one if it is modified; 0: free
    uint64_t mask                # number of sets - 1
    uint64_t divisor             # number of sets if that is no power of two, else 0
    uint32_t ways, stride        # stride: ways, rounded up to a multiple of four; the rest is free
    uint32_t shift               # of an address to a line


@cython.final
cdef class RecencySets:
    cdef RecencyRows rows
    cdef readonly uint64_t sets

    cdef bint remove(self, uint32_t* members, uint32_t line) noexcept nogil


cdef inline void to_front(uint32_t* members, uint32_t place) noexcept nogil:
    """Makes a member the most recent."""
    cdef uint32_t member = members[place]
    while place:
        members[place] = members[place - 1]
        place -= 1
    members[0] = member


cdef inline bint use_member(const RecencyRows* rows, uint32_t* members, uint32_t line) noexcept nogil:
    """Whether a set has a line, which becomes its most recent."""
    cdef uint32_t place
    if members[0] | 1 == line << 1 | 1:
        return True
    place = place_in_set(members, rows.stride, line)
    if place == rows.stride:
        return False
    to_front(members, place)
    return True


cdef inline uint32_t insert_member(const RecencyRows* rows, uint32_t* members, uint32_t line,
                                   bint modified) noexcept nogil:
    """Fills a line that a set does not have; returns the member that makes room, 0: there was room."""
    cdef uint32_t evicted = members[rows.ways - 1]
    memmove(members + 1, members, (rows.ways - 1) * sizeof(uint32_t))
    members[0] = line << 1 | modified
    return evicted
