"""Plans of the stream's words for an out-of-order machine: the blocks that a word stands for, one or those of a path, with the
number of its runs. Each is made when its word first comes.
"""

cimport cython
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from pfmon.stream._stream cimport ALWAYS, BLOCK_MASK, BlockHead, CONDITION_SHIFT, OPERANDS_AT, RegisterMasks


@cython.final
cdef class IntervalPaths:
    """``blocks``: the plans of the blocks."""

    def __cinit__(self, IntervalBlocks blocks):
        self.blocks = blocks

    def __dealloc__(self):
        cdef uint64_t which, i
        for which in range(PLAN_BANKS):
            for i in range(self.capacity[which]):
                free(self.plans[which][i])
            free(self.plans[which])

    cdef IntervalPath* make(self, uint64_t which, uint64_t number) noexcept nogil:
        cdef uint64_t word = which << BANK_SHIFT | number
        cdef const uint64_t* words = &word
        cdef uint32_t blocks = 1
        cdef IntervalPath* path
        if which == PATH_PLANS:
            words, blocks = self.paths.words + self.paths.heads[number].first, self.paths.heads[number].blocks
        path = <IntervalPath*>malloc(sizeof(IntervalPath) + blocks * sizeof(PathStep))
        if path == NULL or not room_for_plan(<void***>&self.plans[which], &self.capacity[which], number):
            self.failure = Failure.OUT_OF_MEMORY
            free(path)
            return NULL
        memset(path, 0, sizeof(IntervalPath))
        path.blocks = blocks
        if not self.put_steps(path, words):
            free(path)
            return NULL
        self.plans[which][number] = path
        return path

    cdef bint put_steps(self, IntervalPath* path, const uint64_t* words) noexcept nogil:
        """Lists the blocks of a path; False: one has no plan."""
        cdef PathStep* step = steps_of(path)
        cdef uint32_t i
        for i in range(path.blocks):
            step[i].block, step[i].word = block_of(self.blocks, words[i] & BLOCK_MASK), words[i]
            if step[i].block == NULL:
                self.failure = self.blocks.failure
                return False
            path.reached += step[i].block.reached
        path.ip, path.condition_bit = step[0].block.ip, step[path.blocks - 1].block.condition
        path.condition_bit = NO_CONDITION_BIT if path.condition_bit == ALWAYS else CONDITION_SHIFT + path.condition_bit
        return True


cdef dict executed_forms(IntervalPaths paths):
    """How often the instructions of each form executed (x86_operands.pxd), as of the records."""
    cdef BlockTable table = paths.blocks.table
    cdef uint64_t stride = table.c.header.payload_bytes, which, i, runs
    cdef IntervalPath* path
    cdef const BlockHead* head
    cdef const uint8_t* form
    cdef uint32_t k, m
    found = {}
    for which in range(PLAN_BANKS):
        for i in range(paths.capacity[which]):
            path = paths.plans[which][i]
            runs = path.runs[0] + path.runs[1] if path != NULL else 0
            for k in range(path.blocks if runs else 0):
                head = &table.c.heads[steps_of(path)[k].block.number]
                for m in range(head.length):
                    form = table.c.payloads + (head.first + m) * stride + OPERANDS_AT + sizeof(RegisterMasks)
                    number = (<const uint64_t*>form)[0]
                    found[number] = found.get(number, 0) + runs
    return found
