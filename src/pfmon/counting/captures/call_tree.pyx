"""A calling context tree, exact: the counts of every block that runs are added to the node of its call path.

A function whose first block ends with an indirect jump (an import stub) has no node: the target of the jump is the
callee. If the call is not bound yet, that is the rest of the stub, which jumps on to the dynamic linker's function; where
this one jumps to is a callee of the same caller.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from pfmon.machine._machine cimport ObservedBlock
from pfmon.stream._stream cimport BLOCK_MASK, BlockHead, BlockInstruction, BlockTable, BranchKind, executed


cdef class CallPath(CallStack):
    """As CallStack; node 0 is the root, where each thread begins."""

    def __cinit__(self, BlockTable table, bint traced=False):
        self.node_capacity = 1024
        self.nodes = <CallNode*>calloc(self.node_capacity, sizeof(CallNode))
        if self.nodes == NULL:
            raise MemoryError
        self.node_count = 1

    def __dealloc__(self):
        cdef uint64_t thread
        free(self.nodes)
        free(self.chain.node_at)
        for thread in range(self.chain_count):
            free(self.chains[thread].node_at)
        free(self.chains)

    cdef void switch_to(self, uint64_t thread) noexcept nogil:
        cdef uint64_t count = max(thread, self.thread) + 1, before = self.thread
        cdef CallChain* chains
        if thread == before:
            return
        if count > self.chain_count:
            chains = <CallChain*>realloc(self.chains, count * sizeof(CallChain))
            if chains == NULL:
                self.lost = True
                return
            memset(chains + self.chain_count, 0, (count - self.chain_count) * sizeof(CallChain))
            self.chains, self.chain_count = chains, count
        CallStack.switch_to(self, thread)
        if self.thread == before:
            self.lost = True
            return
        self.chains[before] = self.chain
        self.chain = self.chains[thread]
        memset(&self.chains[thread], 0, sizeof(CallChain))

    cdef void push(self) noexcept nogil:
        cdef uint64_t capacity, depth = self.now.depth
        cdef uint32_t* fresh
        CallStack.push(self)
        if self.now.depth == depth:                      # there was no room for the call
            return
        if depth >= self.chain.capacity:
            capacity = 2 * self.chain.capacity + 64
            fresh = <uint32_t*>realloc(self.chain.node_at, capacity * sizeof(uint32_t))
            if fresh == NULL:
                self.lost = True
                self.now.depth = depth
                self.now.beyond += 1
                return
            self.chain.node_at, self.chain.capacity = fresh, capacity
        self.chain.node_at[depth] = self.chain.at

    cdef void arrive(self, uint64_t word) noexcept nogil:
        cdef int leaving = self.now.leaving
        cdef uint64_t depth = self.now.depth
        cdef bint stub = self.chain.stub
        cdef const BlockHead* head = &self.table.c.heads[word & BLOCK_MASK]
        self.chain.fresh, self.chain.stub = self.chain.binding, False
        self.chain.binding = False
        if self.nodes[0].entry == 0:
            self.nodes[0].entry, self.nodes[0].file = head.ip, head.file
        if not self.chain.begun:
            self.chain.begun = True
            if self.thread:                              # a child of the root: the thread's first function
                self.descend(head.ip, head.file)
        if leaving == BranchKind.NO_BRANCH:
            if stub:
                self.follow_stub(head)
            return
        CallStack.arrive(self, word)
        if self.now.depth > depth:
            self.chain.fresh, self.chain.jumps, self.chain.entry = self.descend(head.ip, head.file), 0, head.ip
        elif self.now.depth < depth:
            self.chain.at = self.chain.node_at[self.now.depth]

    cdef void end_block(self, uint64_t word) noexcept nogil:
        cdef const BlockHead* head = &self.table.c.heads[word & BLOCK_MASK]
        cdef const BlockInstruction* last = &self.table.c.instructions[head.first + head.length - 1]
        CallStack.end_block(self, word)
        if not executed(word, last.condition):
            return
        if last.branch == BranchKind.INDIRECT_JUMP:
            self.chain.stub = self.chain.fresh or self.chain.linker == self.chain.at != 0
        elif last.branch == BranchKind.DIRECT:
            self.chain.binding = (self.chain.fresh and self.chain.jumps == 1
                                  and head.ip - self.chain.entry + MAX_STUBS_BYTES < 2 * MAX_STUBS_BYTES)

    cdef void follow_stub(self, const BlockHead* head) noexcept nogil:
        """Descends from the caller of a stub to where the stub jumped, or the dynamic linker's function, which stays a
        callee of its own."""
        cdef bint bound = self.chain.linker == self.chain.at
        if not bound:
            self.nodes[self.chain.at].calls -= 1
        self.chain.at = self.nodes[self.chain.at].parent
        self.chain.fresh = self.descend(head.ip, head.file)
        self.chain.jumps = 0 if bound else self.chain.jumps + 1
        self.chain.linker = self.chain.at if self.chain.jumps == 2 and self.chain.fresh else 0

    cdef bint descend(self, uint64_t ip, uint32_t file) noexcept nogil:
        """Descends to the node of a called function; False: there is none, and it counts as part of its caller."""
        cdef uint32_t found = 0
        if self.nodes[self.chain.at].depth < MAX_CALL_DEPTH:
            found = self.child(self.chain.at, ip, file)
        if found == 0:
            return False
        self.chain.at = found
        self.nodes[found].calls += 1
        return True

    cdef uint32_t child(self, uint32_t parent, uint64_t ip, uint32_t file) noexcept nogil:
        """Returns the node of a call from the parent to an address; 0: there is no room. Most recent first."""
        cdef uint32_t found = self.nodes[parent].first_child, before = 0
        cdef CallNode* fresh
        while found and not (self.nodes[found].entry == ip and self.nodes[found].file == file):
            before, found = found, self.nodes[found].next_sibling
        if found:
            if before:
                self.nodes[before].next_sibling = self.nodes[found].next_sibling
                self.nodes[found].next_sibling = self.nodes[parent].first_child
                self.nodes[parent].first_child = found
            return found
        if self.node_count == MAX_CALL_NODES:
            return 0
        if self.node_count == self.node_capacity:
            fresh = <CallNode*>realloc(self.nodes, 2 * self.node_capacity * sizeof(CallNode))
            if fresh == NULL:
                self.lost = True
                return 0
            self.nodes = fresh
            self.node_capacity *= 2
        found = self.node_count
        self.node_count += 1
        memset(&self.nodes[found], 0, sizeof(CallNode))
        self.nodes[found].entry, self.nodes[found].file, self.nodes[found].parent = ip, file, parent
        self.nodes[found].depth = self.nodes[parent].depth + 1
        self.nodes[found].next_sibling = self.nodes[parent].first_child
        self.nodes[parent].first_child = found
        return found


cdef class CallTree(BlockIncrements):
    """Counts a machine's blocks and their records by the monitors, and retired instructions. ``increments``,
    ``cycles``: of the monitors, as in `Live`."""

    def __cinit__(self, BlockTable table, Increments increments, RecordCounts cycles):
        if increments.monitors >= MAX_NODE_COUNTS:
            raise ValueError(f"{increments.monitors} monitors: there is room for {MAX_NODE_COUNTS - 1}")
        self.table = table
        self.path = CallPath(table)
        self.describe(increments, None, cycles)

    def __dealloc__(self):
        free(self.thread_counts)

    cdef void on_block(self, const ObservedBlock* block) noexcept nogil:
        cdef const int64_t* known
        cdef int64_t counts[MAX_NODE_COUNTS]
        cdef uint32_t k, m
        memset(counts, 0, sizeof(counts))
        if block.words != NULL:
            self.path.arrive(block.words[0])
        if block.node_item_count:
            known = self.of_node(block)
            for m in range(self.monitors):
                counts[m] += known[m]
        for k in range(0, block.item_count, 2):
            self.add_item(block.items + k, counts)
        if block.words != NULL:
            counts[self.monitors] += self.table.c.heads[block.words[0] & BLOCK_MASK].length
        self.add(&self.path.nodes[self.path.chain.at], counts)
        if block.words != NULL:
            self.path.end_block(block.words[0])
        self.path.read(block.marks, block.mark_count)

    cdef void add(self, CallNode* node, const int64_t* counts) noexcept nogil:
        """Adds a block's counts to its call path and to its thread."""
        cdef int64_t* of_thread
        cdef uint32_t m
        if self.path.thread >= self.thread_capacity and not self.grow(self.path.thread):
            return
        of_thread = self.thread_counts + MAX_NODE_COUNTS * self.path.thread
        for m in range(self.monitors + 1):
            node.counts[m] += counts[m]
            of_thread[m] += counts[m]

    cdef bint grow(self, uint64_t thread) noexcept nogil:
        """Makes room for a thread; returns whether there is any."""
        cdef uint64_t capacity = 2 * thread + 4
        cdef int64_t* wider = <int64_t*>realloc(self.thread_counts, capacity * MAX_NODE_COUNTS * sizeof(int64_t))
        if wider == NULL:
            self.path.lost = True
            return False
        memset(wider + MAX_NODE_COUNTS * self.thread_capacity, 0,
               (capacity - self.thread_capacity) * MAX_NODE_COUNTS * sizeof(int64_t))
        self.thread_counts, self.thread_capacity = wider, capacity
        return True

    @property
    def lost(self) -> bool:
        """Whether memory ran out."""
        return self.path.lost

    def nodes(self):
        """(parent, entry, file, calls, counts) of each node; the last count is that of instructions; a parent precedes
        its children, 0 is the root."""
        cdef uint32_t i, m
        cdef CallNode* node
        found = []
        for i in range(self.path.node_count):
            node = &self.path.nodes[i]
            found.append((node.parent, node.entry, node.file, node.calls,
                          tuple([node.counts[m] for m in range(self.monitors + 1)])))
        return found

    def threads(self):
        """(number, counts) of each thread that ran, as `nodes` has them."""
        cdef uint64_t i, m
        found = []
        for i in range(self.thread_capacity):
            counts = tuple([self.thread_counts[MAX_NODE_COUNTS * i + m] for m in range(self.monitors + 1)])
            if any(counts):
                found.append((i, counts))
        return found
