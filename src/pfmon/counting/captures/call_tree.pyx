"""A calling context tree, exact: the counts of every block that runs are added to the node of its call path.

Marks of the stream say which function of a Python program executes, and which line: it has a node below that of the
interpreter's native function, and native code that it calls is below it.

A function whose first block ends with an indirect jump (an import stub) has no node: the target of the jump is the
callee. If the call is not bound yet, that is the rest of the stub, which jumps on to the dynamic linker's function; where
this one jumps to is a callee of the same caller.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from pfmon.machine._machine cimport ObservedBlock
from pfmon.stream._stream cimport (
    BLOCK_MASK, BlockHead, BlockInstruction, BlockTable, BranchKind, Mark, executed)


PYTHON_ENTRIES = <uint64_t>0xFFFF8 << 44
PYTHON_FUNCTIONS = PYTHON_ENTRIES
"""The entry of a Python function's node is its number, added to this address, which no program has."""


cdef class CallPath(CallStack):
    """As CallStack; node 0 is the root, where each thread begins."""

    def __cinit__(self, BlockTable table, bint traced=False):
        self.node_capacity = 1024
        self.nodes = <CallNode*>calloc(self.node_capacity, sizeof(CallNode))
        if self.nodes == NULL:
            raise MemoryError
        self.node_count = 1
        self.line_count = 1
        self.moved = True
        if not self.grow_lines():
            raise MemoryError

    def __dealloc__(self):
        cdef uint64_t thread
        free(self.nodes)
        free(self.lines)
        free(self.line_at)
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
        self.moved = True
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

    cdef void follow_python(self, int kind, uint64_t value) noexcept nogil:
        if kind == Mark.PYTHON_RETURN:
            self.chain.python.returns += value
        elif kind == Mark.PYTHON_CALL:
            self.chain.python.called = value
        elif kind == Mark.PYTHON_LINE:
            self.chain.python.line = value + 1

    cdef void arrive(self, uint64_t word) noexcept nogil:
        self.arrive_natively(word)
        if self.chain.python.returns or self.chain.python.called or self.chain.python.line:
            self.apply_python()

    cdef void apply_python(self) noexcept nogil:
        """Applies the marks of Python calls, returns and lines."""
        cdef PythonMarks marks = self.chain.python
        self.moved = True
        memset(&self.chain.python, 0, sizeof(PythonMarks))
        self.leave_python(marks.returns)
        if marks.called:
            if not self.chain.beyond and self.descend(PYTHON_ENTRIES + marks.called, PYTHON_FILE):
                self.nodes[self.chain.at].line = 0
            else:
                if not self.chain.beyond:
                    self.chain.beyond_depth = self.now.depth
                self.chain.beyond += 1
        if marks.line and not self.chain.beyond and self.nodes[self.chain.at].file == PYTHON_FILE:
            self.nodes[self.chain.at].line = self.line_of(
                self.nodes[self.chain.at].entry - PYTHON_ENTRIES, marks.line - 1)

    cdef void leave_python(self, uint64_t returns) noexcept nogil:
        while returns and self.chain.beyond:
            self.chain.beyond -= 1
            returns -= 1
        while returns and self.nodes[self.chain.at].file == PYTHON_FILE:
            self.chain.at = self.nodes[self.chain.at].parent
            returns -= 1

    cdef uint32_t line_of(self, uint64_t function, uint64_t line) noexcept nogil:
        """Returns the number of a line of a function; 0: there is no room."""
        cdef uint32_t* place = self.line_place(function, line)
        if place[0]:
            return place[0]
        if self.line_count == MAX_PYTHON_LINES or (2 * self.line_count > self.line_capacity and not self.grow_lines()):
            self.lost = True
            return 0
        place = self.line_place(function, line)
        place[0] = self.line_count
        self.lines[self.line_count].function, self.lines[self.line_count].line = <uint32_t>function, <uint32_t>line
        self.line_count += 1
        return place[0]

    cdef uint32_t* line_place(self, uint64_t function, uint64_t line) noexcept nogil:
        """Returns where the number of a line is, or would be."""
        cdef uint64_t i = hashed(function, line) & (self.line_capacity - 1)
        cdef const PythonLine* known
        while self.line_at[i]:
            known = &self.lines[self.line_at[i]]
            if known.function == function and known.line == line:
                break
            i = (i + 1) & (self.line_capacity - 1)
        return &self.line_at[i]

    cdef bint grow_lines(self) noexcept nogil:
        """Doubles the room for lines; False: out of memory."""
        cdef uint32_t capacity = 2 * self.line_capacity or 1024, i
        cdef PythonLine* lines = <PythonLine*>realloc(self.lines, capacity * sizeof(PythonLine))
        cdef uint32_t* line_at = <uint32_t*>calloc(capacity, sizeof(uint32_t))
        if lines != NULL:
            memset(lines + self.line_capacity, 0, (capacity - self.line_capacity) * sizeof(PythonLine))
            self.lines = lines
        if lines == NULL or line_at == NULL:
            free(line_at)
            return False
        free(self.line_at)
        self.line_at, self.line_capacity = line_at, capacity
        for i in range(1, self.line_count):
            self.line_place(self.lines[i].function, self.lines[i].line)[0] = i
        return True

    cdef int64_t* line_counts(self) noexcept nogil:
        """Returns the counts of the running line; NULL: no Python function executes."""
        cdef uint32_t python = self.nodes[self.chain.at].python
        return self.lines[self.nodes[python].line].counts if python else NULL

    cdef void arrive_natively(self, uint64_t word) noexcept nogil:
        cdef int leaving = self.now.leaving
        cdef uint64_t depth = self.now.depth
        cdef bint stub = self.chain.stub
        cdef const BlockHead* head = &self.table.c.heads[word & BLOCK_MASK]
        if leaving >= TO_HANDLER:
            self.leave_system(head.ip)
            if leaving >= TO_USER and self.now.depth == 0 and self.nodes[self.chain.at].file != head.file:
                self.chain.at = 0                        # the task executes another program
                self.descend(head.ip, head.file)
            leaving, depth = self.now.leaving, self.now.depth
        self.chain.fresh, self.chain.stub = self.chain.binding, False
        if leaving == BranchKind.NO_BRANCH and self.chain.begun and not stub and not self.chain.binding:
            return
        self.moved = True
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
        else:
            self.rise(depth)

    cdef void leave_system(self, uint64_t ip) noexcept nogil:
        cdef uint64_t depth = self.now.depth
        CallStack.leave_system(self, ip)
        self.moved = True
        self.rise(depth)

    cdef void rise(self, uint64_t depth) noexcept nogil:
        """Moves up to the caller, if there are fewer calls than before."""
        if self.now.depth < depth:
            self.chain.at = self.chain.node_at[self.now.depth]
            if self.now.depth < self.chain.beyond_depth:
                self.chain.beyond = 0

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
            self.nodes[self.chain.at].calls -= not self.uncounted
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
        self.nodes[found].calls += not self.uncounted
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
        self.nodes[found].python = found if file == PYTHON_FILE else self.nodes[parent].python
        self.nodes[found].next_sibling = self.nodes[parent].first_child
        self.nodes[parent].first_child = found
        return found


cdef class CallTree(BlockIncrements):
    """Counts a machine's blocks and their records by the monitors, and retired instructions. ``increments``,
    ``cycles``: of the monitors, as in `Live`; without a machine the latter is None, and it reads the stream.
    ``counts_words``: the monitors count what retires, too."""

    def __cinit__(self, BlockTable table, Increments increments, RecordCounts cycles, bint traced=False,
                  bint counts_words=False):
        if increments.monitors >= MAX_NODE_COUNTS:
            raise ValueError(f"{increments.monitors} monitors: there is room for {MAX_NODE_COUNTS - 1}")
        self.table, self.traced, self.counts_words = table, traced, counts_words
        self.path = CallPath(table)
        self.to_node = self.path.nodes[0].counts
        if not self.grow(0):
            raise MemoryError
        self.to_thread = self.thread_counts
        self.describe(increments, None, cycles)

    def __dealloc__(self):
        free(self.thread_counts)

    cdef void on_block(self, const ObservedBlock* block) noexcept nogil:
        cdef int64_t rest[MAX_NODE_COUNTS]
        cdef uint32_t k
        if block.words != NULL:
            self.path.arrive(block.words[0])
            if self.path.moved:
                self.path.moved = False
                self.to_node, self.to_line = self.path.nodes[self.path.chain.at].counts, self.path.line_counts()
                self.move_to_thread(self.path.thread)
            self.add_length(self.table.c.heads[block.words[0] & BLOCK_MASK].length)
            if self.counts_words:
                self.add(self.of_word(block.words[0]))
        if block.node_item_count:
            self.add(self.of_node(block))
        if block.item_count or (self.counts_words and block.mark_count):
            memset(rest, 0, sizeof(rest))
            for k in range(0, block.item_count, 2):
                self.add_item(block.items + k, rest)
            if self.counts_words:
                self.count_marks(block, rest)
            self.add(rest)
        if block.words != NULL:
            self.path.end_block(block.words[0])
        if block.mark_count:
            self.path.read(block.marks, block.mark_count)

    cdef void use_event_set(self, uint32_t event_set) noexcept nogil:
        """Counts under the first event set; under others it follows calls and counts nothing."""
        self.path.uncounted = event_set != 0

    cdef void add_length(self, uint32_t length) noexcept nogil:
        """Adds retired instructions to the running function, thread and line."""
        if self.path.uncounted:
            return
        self.to_node[self.monitors] += length
        self.to_thread[self.monitors] += length
        if self.to_line != NULL:
            self.to_line[self.monitors] += length

    cdef void add(self, const int64_t* counts) noexcept nogil:
        """Adds counts of the monitors to the running function, thread and line."""
        cdef uint32_t m
        if self.path.uncounted:
            return
        for m in range(self.monitors):
            self.to_node[m] += counts[m]
            self.to_thread[m] += counts[m]
        if self.to_line != NULL:
            for m in range(self.monitors):
                self.to_line[m] += counts[m]

    cdef void move_to_thread(self, uint64_t thread) noexcept nogil:
        """Counts for a thread from now on."""
        if thread < self.thread_capacity or self.grow(thread):
            self.to_thread = self.thread_counts + MAX_NODE_COUNTS * thread

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

    cdef void count_marks(self, const ObservedBlock* block, int64_t* counts) noexcept nogil:
        """Adds what the marks behind a block count."""
        cdef uint64_t word = block.words[0] if block.words != NULL else 0
        cdef uint64_t number = word & BLOCK_MASK if block.words != NULL else NO_BLOCK
        cdef uint32_t k
        for k in range(block.mark_count):
            self.add_mark(number, word, NULL, block.marks, block.mark_count, k, counts)

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0
        cdef ObservedBlock block
        memset(&block, 0, sizeof(block))
        while i < count:
            i += self.read_block(words + i, count - i, &block)
            self.on_block(&block)

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

    def python_lines(self):
        """(function, line, counts) of each line of a Python program that executed, with the native code that it called;
        (0, 0, ...) of Python functions whose lines had no room. Counts as in `nodes`."""
        cdef uint32_t i, m
        return [(self.path.lines[i].function, self.path.lines[i].line,
                 tuple([self.path.lines[i].counts[m] for m in range(self.monitors + 1)]))
                for i in range(self.path.line_count)]
