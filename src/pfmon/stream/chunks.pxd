"""The stream as bytes: what an encoder and a decoder share; see chunks.pyx."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from pfmon.stream.table cimport BlockTable

cdef enum:
    GUESSES = 1 << 16            # of the next word, by the two before it
    CHUNK_WORDS = 1 << 19        # after so many a chunk ends
    SLACK = 1 << 16              # bytes that one block with its addresses and marks can take, and more

cdef struct Site:                # an access of a block: where it went last, and how far that was from before
    uint64_t last
    int64_t stride

cdef struct Bytes:
    uint8_t* data
    uint64_t count
    uint64_t capacity

cdef struct Guesses:
    uint64_t word[GUESSES]
    uint64_t before, last        # the words before
    uint64_t hits                # words that were guessed since the last that was not
    uint64_t address_hits


cdef class Sites:
    cdef Site* sites
    cdef uint64_t capacity

    cdef bint room(self, uint64_t count) noexcept nogil


cdef inline uint64_t place_of(const Guesses* guesses) noexcept nogil:
    """Where the guess of the next word is."""
    cdef uint64_t mixed = (guesses.last ^ guesses.before << 21 ^ guesses.before >> 43) * <uint64_t>0x9E3779B97F4A7C15
    return mixed >> 48


cdef inline void remember(Guesses* guesses, uint64_t place, uint64_t word) noexcept nogil:
    """What the word in a place was."""
    guesses.word[place] = word
    guesses.before = guesses.last
    guesses.last = word


cdef inline int64_t move(Site* site, uint64_t address) noexcept nogil:
    """An access went to another address than was guessed; how far from the one before."""
    site.stride = <int64_t>(address - site.last)
    site.last = address
    return site.stride
