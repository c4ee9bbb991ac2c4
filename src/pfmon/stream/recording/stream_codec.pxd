"""The stream as bytes: the state that encoder and decoder share; see stream_codec.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t


cdef enum:
    GUESSES = 1 << 16            # predictions of the next word, indexed by the two before it
    CHUNK_WORDS = 1 << 19        # a chunk ends after so many
    SLACK = 1 << 16              # bytes that one block with its addresses and marks can take, and more

cdef struct CodecSite:           # an access of a block: its last address, and the stride before it
    uint64_t last
    int64_t stride

cdef struct Bytes:
    uint8_t* data
    uint64_t count
    uint64_t capacity

cdef struct WordGuesses:
    uint64_t word[GUESSES]
    uint64_t before, last        # the words before
    uint64_t hits                # words predicted right since the last misprediction
    uint64_t address_hits


@cython.final
cdef class Sites:
    cdef CodecSite* sites
    cdef uint64_t capacity

    cdef bint room(self, uint64_t count) noexcept nogil


cdef inline uint64_t guess_index(const WordGuesses* guesses) noexcept nogil:
    """Returns the index of the prediction of the next word."""
    cdef uint64_t mixed = (guesses.last ^ guesses.before << 21 ^ guesses.before >> 43) * <uint64_t>0x9E3779B97F4A7C15
    return mixed >> 48


cdef inline void record_guess(WordGuesses* guesses, uint64_t guess, uint64_t word) noexcept nogil:
    """Records the word that followed, at its index."""
    guesses.word[guess] = word
    guesses.before = guesses.last
    guesses.last = word


cdef inline int64_t move(CodecSite* site, uint64_t address) noexcept nogil:
    """Updates a site after a misprediction; returns the stride from the address before."""
    site.stride = <int64_t>(address - site.last)
    site.last = address
    return site.stride
