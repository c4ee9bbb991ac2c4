"""The block that a machine holds back: its marks follow it in the stream, and the next block says where control went."""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy


cdef enum:
    MAX_HELD_WORDS = MAX_PLAN_LENGTH + 1  # words of a block and its addresses
    MAX_BLOCK_MARKS = 1024

cdef struct HeldBlock:
    const uint64_t* words        # its word and the addresses of its accesses, in the stream or in `kept`; NULL: none
    const BlockPlan* plan
    uint64_t word_count
    uint64_t marks[MAX_BLOCK_MARKS]  # also without a block: those of the block that ran last
    uint32_t mark_count
    uint64_t kept[MAX_HELD_WORDS]


cdef inline void hold(HeldBlock* held, const uint64_t* words, const BlockPlan* plan) noexcept nogil:
    """Holds the block at ``words``, as long as these do not move."""
    held.words, held.plan = words, plan
    held.word_count = words_of(plan, words[0])


cdef inline bint hold_mark(HeldBlock* held, uint64_t mark) noexcept nogil:
    """Adds a mark; returns whether there was room."""
    if held.mark_count == MAX_BLOCK_MARKS:
        return False
    held.marks[held.mark_count] = mark
    held.mark_count += 1
    return True


cdef inline void keep_words(HeldBlock* held, uint64_t thread_id) noexcept nogil:
    """Copies the words of the held block, and sets the thread's bit in its addresses."""
    cdef uint64_t i
    memcpy(held.kept, held.words, held.word_count * sizeof(uint64_t))
    for i in range(1, held.word_count if thread_id else 0):
        held.kept[i] |= thread_id
    held.words = held.kept
