"""Memoizes the effects of blocks, so that they need not be simulated again.

Without misses the timing of a block depends on the pipeline's state, on its executed instructions and on the prediction
of its branch. For each such combination so far a node holds the number of cycles, the next state, and the records. A
repetition costs a comparison with the node that followed the last time. Runs of each node are counted by event set, and
`write_out` converts the counts into records.
"""

from libc.stdint cimport int32_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp, memcpy, memset

from pfmon.stream._stream cimport arena_alloc, arena_reset, free_arena

cdef enum:
    INITIAL_TABLE_SIZE = 1 << 14
    NONE = 0                     # no node; node 0 is not used, state 0 neither
    NODE_BITS = 21               # of a table entry: the node number; the other bits are of its hash:
    MAX_MEMO_NODES = 1 << NODE_BITS  # a mismatch skips other nodes of the slot
    TAG_SHIFT = 32 + NODE_BITS


cdef inline uint64_t mix(uint64_t a, uint64_t b) noexcept nogil:
    a = (a ^ b) * <uint64_t>0x9E3779B97F4A7C15
    return a ^ a >> 29


cdef inline uint64_t state_bytes(const PipelineState* state) noexcept nogil:
    """Returns the size of a state's used part."""
    return sizeof(PipelineState) - sizeof(state.pending) + state.pending_count * sizeof(Pending)


cdef uint64_t state_hash(const PipelineState* state) noexcept nogil:
    cdef const uint64_t* words = <const uint64_t*>state
    cdef uint64_t hash = 7, bytes = state_bytes(state), i
    for i in range(bytes // 8):
        hash = mix(hash, words[i])
    if bytes & 4:
        hash = mix(hash, (<const uint32_t*>state)[bytes // 4 - 1])
    return hash


cdef inline uint64_t node_hash(uint32_t before, uint64_t word, uint64_t outcome, uint64_t served) noexcept nogil:
    return mix(mix(mix(mix(3, before), word), outcome), served)


cdef class Memo:
    """``max_bytes``: at this size it is written out and begins anew."""

    def __cinit__(self, Records records, uint64_t max_bytes):
        self.records = records
        self.responses = ResponseTree()
        self.event_sets = records.event_sets
        self.max_bytes = max_bytes
        self.max_states = ~<uint32_t>0
        self.state_count = self.node_count = 1
        self.state_table_size = self.node_table_size = INITIAL_TABLE_SIZE
        self.state_table = <uint32_t*>calloc(INITIAL_TABLE_SIZE, sizeof(uint32_t))
        self.node_table = <uint32_t*>calloc(INITIAL_TABLE_SIZE, sizeof(uint32_t))
        self.times_of = <uint64_t**>calloc(self.event_sets, sizeof(uint64_t*))
        if self.state_table == NULL or self.node_table == NULL or self.times_of == NULL:
            raise MemoryError

    def __dealloc__(self):
        cdef uint32_t event_set
        if self.times_of != NULL:
            for event_set in range(self.event_sets):
                free(self.times_of[event_set])
        free(self.times_of)
        free_arena(&self.arena)
        free(self.states)
        free(self.state_table)
        free(self.nodes)
        free(self.node_table)
        free(self.logs)

    cdef inline void count(self, MemoNode* node) noexcept nogil:
        prefetch(&self.nodes[node.next])
        if self.times != NULL:
            self.times[node - self.nodes] += 1
            return
        node.times += 1
        if node.times == MAX_NODE_TIMES:
            self.write_out()

    cdef void use(self, uint32_t event_set) noexcept nogil:
        """Counts later runs in this event set."""
        if self.event_sets == 1:
            return
        if self.times_of[event_set] == NULL:     # the first time
            self.times_of[event_set] = <uint64_t*>calloc(self.node_capacity + 1, sizeof(uint64_t))
            if self.times_of[event_set] == NULL:
                self.records.lost = True
                return
        self.times = self.times_of[event_set]

    # --- states

    cdef uint32_t state_place(self, const PipelineState* state) noexcept nogil:
        cdef uint32_t at = <uint32_t>state_hash(state) & (self.state_table_size - 1)
        cdef uint64_t size = state_bytes(state)
        cdef const PipelineState* other
        while self.state_table[at]:
            other = self.states[self.state_table[at]]
            if other.pending_count == state.pending_count and memcmp(other, state, size) == 0:
                return at
            at = (at + 1) & (self.state_table_size - 1)
        return at

    cdef uint32_t state(self, const PipelineState* state) noexcept nogil:
        """Returns the number of a state; NONE when there is no memory: the caller then continues without the memo."""
        cdef uint32_t at = self.state_place(state), i, capacity
        cdef PipelineState** fresh
        cdef uint32_t* table
        cdef PipelineState* copy
        if self.state_table[at]:
            return self.state_table[at]
        if self.state_count > self.max_states:
            return NONE
        if self.state_count >= self.state_capacity:
            capacity = self.state_capacity * 2 if self.state_capacity else INITIAL_TABLE_SIZE
            fresh = <PipelineState**>realloc(self.states, capacity * sizeof(PipelineState*))
            if fresh == NULL:
                return NONE
            self.states = fresh
            self.state_capacity = capacity
        copy = <PipelineState*>arena_alloc(&self.arena, state_bytes(state))
        if copy == NULL:
            return NONE
        memcpy(copy, state, state_bytes(state))
        self.states[self.state_count] = copy
        self.state_count += 1
        if self.state_count * 2 < self.state_table_size:
            self.state_table[at] = self.state_count - 1
            return self.state_count - 1
        table = <uint32_t*>calloc(self.state_table_size * 2, sizeof(uint32_t))
        if table == NULL:
            return NONE
        free(self.state_table)
        self.state_table = table
        self.state_table_size *= 2
        for i in range(1, self.state_count):
            self.state_table[self.state_place(self.states[i])] = i
        return self.state_count - 1

    cdef const PipelineState* state_at(self, uint32_t number) noexcept nogil:
        return self.states[number]

    cdef uint32_t shifted(self, uint32_t number, uint32_t moved, bint rotate, int64_t rotating) noexcept nogil:
        """Returns a state after r32 moved up by ``moved`` registers, or after a rotation; NONE, and `lost`, when there
        is no memory: the pipeline itself does not hold the state to continue from."""
        cdef uint64_t key = <uint64_t>number << 16 | (moved & 0xFF) << 8 | <uint64_t>rotate << 7 | <uint64_t>rotating
        cdef StateShift* known = &self.shifts[mix(5, key) & (SHIFTS - 1)]
        if known.key != key:
            known.result = self.shift(number, moved, rotate, rotating)
            if known.result == NONE:
                self.lost = True
            known.key = key
        return known.result

    cdef uint32_t shift(self, uint32_t number, uint32_t moved, bint rotate, int64_t rotating) noexcept nogil:
        cdef const PipelineState* old = self.states[number]
        cdef PipelineState fresh
        cdef uint32_t i, k
        cdef Pending pending
        cdef bint changes = False
        memset(&fresh, 0, sizeof(PipelineState))
        memcpy(&fresh, old, sizeof(PipelineState) - sizeof(fresh.pending))
        fresh.pending_count = 0
        for i in range(old.pending_count):
            pending = old.pending[i]
            if rotate:
                pending.register = rotated(pending.register, rotating)
            elif pending.register >= RING_FIRST and pending.register < RING_FIRST + RING:
                pending.register = <uint16_t>(
                    RING_FIRST + ((pending.register - RING_FIRST - moved) & (RING - 1)))
            changes |= pending.register != old.pending[i].register
            k = fresh.pending_count
            while k > 0 and fresh.pending[k - 1].register > pending.register:
                fresh.pending[k] = fresh.pending[k - 1]
                k -= 1
            fresh.pending[k] = pending
            fresh.pending_count += 1
        return self.state(&fresh) if changes else number

    # --- nodes

    cdef uint32_t find(self, uint32_t before, uint64_t word, uint64_t outcome, uint64_t served) noexcept nogil:
        """Returns the node of a block from a state, or NONE."""
        cdef uint64_t hash = node_hash(before, word, outcome, served)
        cdef uint32_t at = <uint32_t>hash & (self.node_table_size - 1), entry = self.node_table[at]
        while entry:
            if entry >> NODE_BITS == hash >> TAG_SHIFT and is_node(
                    &self.nodes[entry & (MAX_MEMO_NODES - 1)], before, word, outcome, served):
                return entry & (MAX_MEMO_NODES - 1)
            at = (at + 1) & (self.node_table_size - 1)
            entry = self.node_table[at]
        return NONE

    cdef uint32_t add(self, uint32_t before, uint64_t word, uint64_t outcome, uint64_t served, uint32_t after,
                      uint32_t cycles, const uint32_t* allocs, uint32_t alloc_count, const uint32_t* issued,
                      uint32_t accesses, bint found) noexcept nogil:
        """Makes a node of the records just simulated, and of the issue times of allocs and accesses; ``found``: by
        `find`. NONE when there is no memory: the block is then simulated in each run, with the same result."""
        cdef MemoNode* node
        cdef uint32_t count = self.records.log_count
        if not self.room(2 * alloc_count + count + accesses):
            return NONE
        memcpy(self.logs + self.log_used, allocs, 2 * alloc_count * sizeof(uint32_t))
        self.log_used += 2 * alloc_count
        node = &self.nodes[self.node_count]
        memset(node, 0, sizeof(MemoNode))
        node.word, node.outcome, node.served = word, outcome, served
        node.before, node.after, node.cycles = before, after, cycles
        node.log, node.log_count = <uint32_t>self.log_used, count
        memcpy(self.logs + self.log_used, self.records.log, count * sizeof(uint32_t))
        memcpy(self.logs + self.log_used + count, issued, accesses * sizeof(uint32_t))
        self.log_used += count + accesses
        node.entered = found
        if found:
            self.enter(self.node_count)
        self.node_count += 1
        return self.node_count - 1

    cdef uint32_t add_root(self, uint32_t before, uint64_t word, uint64_t outcome, uint64_t served,
                           const MemoryEvent* event) noexcept nogil:
        """Makes a node at which memory is accessed; NONE when there is no memory."""
        cdef uint32_t point = self.responses.add_point(event), log_count = self.records.log_count, number
        if point == 0:
            return NONE
        self.records.log_count = 0
        number = self.add(before, word, outcome, served, NONE, 0, NULL, 0, NULL, 0, True)
        self.records.log_count = log_count
        if number:
            self.nodes[number].point = point
        return number

    cdef const uint32_t* issued(self, const MemoNode* node) noexcept nogil:
        """Returns for each access of a node's block the cycles until it issued."""
        return self.logs + node.log + node.log_count

    cdef const uint32_t* allocs(self, const MemoNode* node, uint32_t alloc_count) noexcept nogil:
        """Returns for each of so many allocs of a node's block the cycles until it issued, and its frame size."""
        return self.logs + node.log - 2 * alloc_count

    cdef void enter(self, uint32_t number) noexcept nogil:
        cdef const MemoNode* node = &self.nodes[number]
        cdef uint64_t hash = node_hash(node.before, node.word, node.outcome, node.served)
        cdef uint32_t at = <uint32_t>hash & (self.node_table_size - 1)
        while self.node_table[at]:
            at = (at + 1) & (self.node_table_size - 1)
        self.node_table[at] = number | <uint32_t>(hash >> TAG_SHIFT) << NODE_BITS

    cdef bint room(self, uint32_t log_count) noexcept nogil:
        """Reserves room for one more node with so long a log."""
        cdef MemoNode* nodes
        cdef uint32_t* more
        cdef uint32_t i, capacity
        if self.node_count == MAX_MEMO_NODES:
            return False
        if self.node_count >= self.node_capacity:
            capacity = self.node_capacity * 2 if self.node_capacity else INITIAL_TABLE_SIZE
            nodes = <MemoNode*>alloc_host_lines(capacity * sizeof(MemoNode))
            if nodes == NULL:
                return False
            memset(nodes, 0, sizeof(MemoNode))   # node 0 means none, and equals no other
            memcpy(nodes, self.nodes, self.node_capacity * sizeof(MemoNode))
            free(self.nodes)
            self.nodes = nodes
            if not self.grow_run_counts(capacity):
                return False
            self.node_capacity = capacity
        if self.log_used + log_count > self.log_capacity:
            more = <uint32_t*>realloc(
                self.logs, (self.log_capacity + log_count + INITIAL_TABLE_SIZE) * 2 * sizeof(uint32_t))
            if more == NULL:
                return False
            self.logs = more
            self.log_capacity = (self.log_capacity + log_count + INITIAL_TABLE_SIZE) * 2
        if self.node_count * 2 >= self.node_table_size:
            more = <uint32_t*>calloc(self.node_table_size * 2, sizeof(uint32_t))
            if more == NULL:
                return False
            free(self.node_table)
            self.node_table = more
            self.node_table_size *= 2
            for i in range(1, self.node_count):
                if self.nodes[i].entered:
                    self.enter(i)
        return True

    cdef bint grow_run_counts(self, uint32_t capacity) noexcept nogil:
        """Reserves room for the counts of so many nodes, in the event sets used, if there are several."""
        cdef uint32_t event_set
        cdef uint64_t* times
        if self.event_sets == 1:
            return True
        for event_set in range(self.event_sets):
            if event_set != self.records.event_set and self.times_of[event_set] == NULL:
                continue
            times = <uint64_t*>realloc(self.times_of[event_set], capacity * sizeof(uint64_t))
            if times == NULL:
                return False
            memset(times + self.node_capacity, 0, (capacity - self.node_capacity) * sizeof(uint64_t))
            self.times_of[event_set] = times
        self.use(self.records.event_set)
        return True

    cdef void write_out(self) noexcept nogil:
        """Adds the records of the nodes' counts, and passes runs of blocks to the counter."""
        cdef uint32_t i, event_set, before = self.records.event_set
        cdef uint64_t* times
        cdef bint counts = self.counted is not None and self.counted.room()
        if self.event_sets == 1:
            for i in range(1, self.node_count):
                self.write_out_node(&self.nodes[i], self.nodes[i].times, counts)
                self.nodes[i].times = 0
            return
        for event_set in range(self.event_sets):
            times = self.times_of[event_set]
            if times == NULL:
                continue
            self.records.use(event_set)
            for i in range(1, self.node_count):
                self.write_out_node(&self.nodes[i], times[i], counts)
                times[i] = 0
        self.records.use(before)

    cdef inline void write_out_node(self, const MemoNode* node, uint64_t times, bint counts) noexcept nogil:
        if times:
            self.records.replay(self.logs + node.log, node.log_count, times)
            if counts:
                self.counted.add_runs_of(node.word, times)

    cdef bint full(self) noexcept nogil:
        return (self.node_count * sizeof(MemoNode) + self.log_used * sizeof(uint32_t) + self.responses.bytes_used()
                + self.state_count * <uint64_t>256) > self.max_bytes

    cdef void forget(self) noexcept nogil:
        """Begins anew, after `write_out`: earlier node and state numbers become invalid."""
        self.flushes += 1
        arena_reset(&self.arena)
        self.state_count = self.node_count = 1
        self.log_used = 0
        self.responses.forget()
        memset(self.shifts, 0, sizeof(self.shifts))
        memset(self.state_table, 0, self.state_table_size * sizeof(uint32_t))
        memset(self.node_table, 0, self.node_table_size * sizeof(uint32_t))

    def sizes(self):
        """Returns the number of states and of nodes."""
        return self.state_count - 1, self.node_count - 1
