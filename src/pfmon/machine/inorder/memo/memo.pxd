"""The memo: see memo.pyx."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t, uint8_t

from pfmon.stream._stream cimport Arena, RunCounter

cdef enum NodeFlag:
    NODE_CYCLES = (1 << 30) - 1
    NODE_LATE_ACCESSES = 1 << 30 # later accesses may conflict with its last stores or reissued reads
    NODE_WRONG_TARGET = 1 << 31  # its branch was predicted by an earlier value of its branch register

cdef struct MemoNode:            # effect of a block from a state: 64 bytes
    uint64_t word                # of the stream: block and conditions
    uint64_t outcome             # of its branch
    uint64_t served              # by access: the level that served it (block_execution.pxd)
    uint32_t before              # number of the state
    uint32_t after
    uint32_t cycles              # and NodeFlag
    uint32_t next                # the node that followed the last time
    uint32_t log                 # index and length of its records; after it: cycles until each access
    uint32_t log_count           # issued; before it: a copy of `Pipeline.allocs`
    uint32_t point               # its first request to memory (response_tree.pyx), which leads to other nodes; 0: none
    uint16_t ways                # number of such nodes
    uint16_t entered             # it is in the table; nodes of memory results are not
    uint32_t other               # the node that followed before `next` did
    uint32_t times               # number of runs, if there is one event set: in the same line as its cycles


cdef inline bint is_node(const MemoNode* node, uint32_t before, uint64_t word, uint64_t outcome,
                         uint64_t served) noexcept nogil:
    """Whether a node is that of a block from a state."""
    return node.before == before and node.word == word and node.outcome == outcome and node.served == served


cdef enum:
    SHIFTS = 1 << 12

cdef extern from *:
    const uint32_t MAX_NODE_TIMES "UINT32_MAX"

cdef struct StateShift:          # a cached result of `shifted`
    uint64_t key                 # state, and its shift
    uint32_t result

@cython.final
cdef class Memo:
    cdef Records records
    cdef ResponseTree responses
    cdef RunCounter counted      # receives runs of blocks; or None
    cdef Arena arena             # the states themselves
    cdef PipelineState** states  # by number
    cdef uint32_t state_count, state_capacity
    cdef uint32_t* state_table
    cdef uint32_t state_table_size
    cdef MemoNode* nodes
    cdef uint32_t node_count, node_capacity
    cdef uint32_t event_sets
    cdef uint64_t** times_of     # by event set, if there are several: runs of each node
    cdef uint64_t* times         # ... in the event set in force; NULL: there is one (MemoNode.times)
    cdef uint32_t* node_table    # by hash: see memo.pyx, NODE_BITS
    cdef uint32_t node_table_size
    cdef uint32_t* logs
    cdef uint64_t log_used, log_capacity
    cdef StateShift shifts[SHIFTS]
    cdef readonly uint64_t flushes
    cdef uint64_t max_bytes
    cdef readonly bint lost      # sticky: a state needed to continue could not be kept
    cdef public uint32_t max_states      # tests lower it

    # Counts a run of the node, and prefetches its successor.
    cdef void count(self, MemoNode* node) noexcept nogil
    cdef void use(self, uint32_t event_set) noexcept nogil
    cdef uint32_t state_place(self, const PipelineState* state) noexcept nogil
    cdef void enter(self, uint32_t number) noexcept nogil
    cdef bint room(self, uint32_t log_count) noexcept nogil
    cdef uint32_t state(self, const PipelineState* state) noexcept nogil
    cdef const PipelineState* state_at(self, uint32_t number) noexcept nogil
    cdef uint32_t find(self, uint32_t before, uint64_t word, uint64_t outcome, uint64_t served) noexcept nogil
    cdef uint32_t add(self, uint32_t before, uint64_t word, uint64_t outcome, uint64_t served, uint32_t after,
                      uint32_t cycles, const uint32_t* allocs, uint32_t alloc_count, const uint32_t* issued,
                      uint32_t accesses, bint found) noexcept nogil
    cdef uint32_t add_root(self, uint32_t before, uint64_t word, uint64_t outcome, uint64_t served,
                           const MemoryEvent* event) noexcept nogil
    cdef const uint32_t* issued(self, const MemoNode* node) noexcept nogil
    cdef const uint32_t* allocs(self, const MemoNode* node, uint32_t alloc_count) noexcept nogil
    cdef uint32_t shifted(self, uint32_t number, uint32_t moved, bint rotate, int64_t rotating) noexcept nogil
    cdef uint32_t shift(self, uint32_t number, uint32_t moved, bint rotate, int64_t rotating) noexcept nogil
    cdef bint grow_run_counts(self, uint32_t capacity) noexcept nogil
    cdef void write_out(self) noexcept nogil
    cdef void write_out_node(self, const MemoNode* node, uint64_t times, bint counts) noexcept nogil
    cdef bint full(self) noexcept nogil
    cdef void forget(self) noexcept nogil
