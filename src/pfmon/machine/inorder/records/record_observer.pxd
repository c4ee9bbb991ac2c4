"""Observers of a machine's records while they are made: live counting."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t

from pfmon.stream._stream cimport EventSetConsumer

cdef struct ObservedBlock:       # a block that ran on the machine, with its records
    const uint64_t* words        # its word and the addresses of its accesses
    const uint64_t* marks
    uint32_t mark_count
    uint32_t node                # of the memo; 0: it was simulated
    const uint32_t* node_items   # the node's records: numbers of parts (bit 31 clear) and bubbles (set), with times
    uint32_t node_item_count     # of these words
    const uint32_t* items        # ... and all other records
    uint32_t item_count
    uint64_t generation          # of the memo's numbers
    uint64_t now                 # cycles recorded so far, including those of the items
    bint mispredicted            # its branch was (out-of-order machines)


cdef class RecordObserver(EventSetConsumer):
    # Called after a block; ``block`` NULL words: only items, of no block.
    cdef void on_block(self, const ObservedBlock* block) noexcept nogil


@cython.final
cdef class RecordReporting:
    cdef Records records
    cdef MemoReplay replay
    cdef RecordObserver observer # None: there is none

    # A block begins, or what is recorded between two blocks.
    cdef void begin(self) noexcept nogil
    # Shows what was recorded since then; ``held``: the block, with so many of its marks, or NULL: of no block.
    cdef void report(self, const HeldBlock* held, uint32_t marks) noexcept nogil
