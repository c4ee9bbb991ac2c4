"""Plans of the stream's words, of blocks and paths, for an out-of-order machine: see interval_paths.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t

from pfmon.stream._stream cimport Failure, PathTable

cdef struct PathStep:            # a block of a path
    IntervalBlock* block
    uint64_t word                # its word; of the last one without the conditions

cdef struct IntervalPath:        # then its steps
    uint64_t runs[2]             # by the condition of its last branch
    uint64_t ip
    uint64_t reached             # addresses that follow its word
    uint32_t blocks
    uint32_t condition_bit       # of the last block's condition in its word; NO_CONDITION_BIT: it has none


@cython.final
cdef class IntervalPaths:
    cdef IntervalBlocks blocks
    cdef PathTable paths         # None: there are none
    cdef IntervalPath** plans[PLAN_BANKS]        # of blocks by bank and number; of paths by number
    cdef uint64_t capacity[PLAN_BANKS]
    cdef Failure failure

    cdef IntervalPath* make(self, uint64_t which, uint64_t number) noexcept nogil
    cdef bint put_steps(self, IntervalPath* path, const uint64_t* words) noexcept nogil


cdef inline PathStep* steps_of(IntervalPath* path) noexcept nogil:
    return <PathStep*>(path + 1)


cdef inline IntervalPath* path_of_word(IntervalPaths paths, uint64_t word) noexcept nogil:
    """Returns the plan of a word; NULL: the reason is in `failure`."""
    cdef uint64_t number = number_in_bank(word), which = bank_of_word(word)
    if number < paths.capacity[which] and paths.plans[which][number] != NULL:
        return paths.plans[which][number]
    return paths.make(which, number)
