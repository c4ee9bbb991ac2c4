"""Replacement: choice of the victim in a set. Base of all policies; see replacement.pyx."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum Recency:               # state changed by a use of an entry; one-word updates are inlined (tag_store.pxd, use)
    RECENCY_STAMP = 0            # its stamp: the time of its last use
    RECENCY_BIT = 1              # its bit; when that is set already, nothing
    RECENCY_NONE = 2             # nothing
    RECENCY_OTHER = 3            # the policy is called each time

cdef enum:
    WORD_SHIFT = 6               # bits of a word of bits


cdef class ReplacementPolicy:
    """Chooses the victim of a full set. A policy is a subclass (replacement_registry.py)."""

    cdef Recency recency
    cdef uint64_t* stamps        # RECENCY_STAMP: by entry
    cdef uint64_t* bits          # RECENCY_BIT: a bit for each entry, a set's in `words` words
    cdef uint64_t clock          # of the stamps
    cdef uint64_t sets
    cdef uint32_t ways
    cdef uint32_t way_shift      # an entry is set << way_shift | way
    cdef uint32_t words

    # Records a use of the entry.
    cdef void touch(self, uint64_t entry) noexcept nogil
    # Returns the victim way of a full set.
    cdef uint64_t victim(self, uint64_t chosen_set) noexcept nogil
    # Records that the entry is free.
    cdef void clear(self, uint64_t entry) noexcept nogil
    # Records that a line was filled without being used: it is the next victim.
    cdef void put_unused(self, uint64_t entry) noexcept nogil


cdef inline uint64_t* word_of(ReplacementPolicy policy, uint64_t entry) noexcept nogil:
    """Returns the word with the bit of an entry."""
    cdef uint64_t way = entry & ((<uint64_t>1 << policy.way_shift) - 1)
    return &policy.bits[(entry >> policy.way_shift) * policy.words + (way >> WORD_SHIFT)]


cdef inline uint64_t bit_of(ReplacementPolicy policy, uint64_t entry) noexcept nogil:
    """Returns the bit of an entry in its word."""
    cdef uint64_t way = entry & ((<uint64_t>1 << policy.way_shift) - 1)
    return <uint64_t>1 << (way & ((1 << WORD_SHIFT) - 1))
