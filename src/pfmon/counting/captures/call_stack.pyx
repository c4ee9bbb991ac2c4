"""The call stack of a program, followed block by block: exact, as every call and return is in the stream.

A return pops the call with its target as return address, and all calls above it. So calls left without a return
(longjmp, an exception, a switched stack) are popped when a function below them returns. A return to any other address
(from a signal handler, or a br.ret used as a jump) changes nothing. Each thread has its own stack.
"""

from libc.stdint cimport uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from pfmon.stream._stream cimport (
    BLOCK_MASK, BlockHead, BlockInstruction, BranchKind, InstructionSet, Mark, TASK_NUMBER, accesses_of, executed,
    mark_kind, mark_value)

cdef enum:
    MAX_CALL_STACK = 1 << 20            # calls: more are a runaway recursion
    MAX_SAMPLE_CALLS = 1 << 10              # of a sample
    BUNDLE_BYTES = 16
    TASK_STACKS = 1 << 16               # tasks' numbers as threads: from here on


cdef class CallStack:
    """``traced``: the words that `read` gets have addresses between them."""

    def __cinit__(self, BlockTable table, bint traced=False):
        self.table, self.traced = table, traced

    def __dealloc__(self):
        cdef uint64_t thread
        free(self.now.calls)
        for thread in range(self.thread_count):
            free(self.threads[thread].calls)
        free(self.threads)

    cdef void switch_to(self, uint64_t thread) noexcept nogil:
        """Switches to another thread; without memory for it, its calls are not known."""
        cdef uint64_t count = max(thread, self.thread) + 1
        cdef CallFrames* threads
        if thread == self.thread:
            return
        if count > self.thread_count:
            threads = <CallFrames*>realloc(self.threads, count * sizeof(CallFrames))
            if threads == NULL:
                return
            memset(threads + self.thread_count, 0, (count - self.thread_count) * sizeof(CallFrames))
            self.threads, self.thread_count = threads, count
        self.threads[self.thread] = self.now
        self.now = self.threads[thread]
        memset(&self.threads[thread], 0, sizeof(CallFrames))
        self.thread = thread

    cdef void read(self, const uint64_t* words, uint64_t count) noexcept nogil:
        """Reads blocks that ran, with their addresses and marks."""
        cdef uint64_t i = 0
        while i < count:
            if words[i] >> 63:
                if mark_kind(words[i]) == Mark.THREAD:
                    self.switch_to(mark_value(words[i]))
                elif mark_kind(words[i]) == Mark.TASK:
                    self.switch_to(TASK_STACKS + (mark_value(words[i]) & TASK_NUMBER))
                elif Mark.PYTHON_CALL <= mark_kind(words[i]) <= Mark.PYTHON_LINE:
                    self.follow_python(mark_kind(words[i]), mark_value(words[i]))
                i += 1
                continue
            self.arrive(words[i])
            self.end_block(words[i])
            i += 1 + (accesses_of(&self.table.c.heads[words[i] & BLOCK_MASK], words[i]) if self.traced else 0)

    cdef void follow_python(self, int kind, uint64_t value) noexcept nogil:
        """Takes a mark of a Python program, which is in force from the next block on. This stack is that of native
        calls."""

    cdef void arrive(self, uint64_t word) noexcept nogil:
        """Applies the call or return that ended the last block, when a block begins. Idempotent."""
        self.arrive_at(self.table.c.heads[word & BLOCK_MASK].ip)

    cdef void arrive_at(self, uint64_t ip) noexcept nogil:
        """As `arrive`, by the block's first address."""
        if self.now.leaving == BranchKind.DIRECT_CALL:
            self.push()
        elif self.now.leaving == BranchKind.RETURN_BRANCH:
            self.pop(ip)
        self.now.leaving = BranchKind.NO_BRANCH

    cdef void end_block(self, uint64_t word) noexcept nogil:
        """Records how a block that has run ended."""
        cdef const BlockHead* head = &self.table.c.heads[word & BLOCK_MASK]
        cdef const BlockInstruction* last = &self.table.c.instructions[head.first + head.length - 1]
        if last.branch < BranchKind.DIRECT_CALL or not executed(word, last.condition):
            return
        if last.branch == BranchKind.RETURN_BRANCH:
            self.now.leaving = BranchKind.RETURN_BRANCH
            return
        self.now.leaving = BranchKind.DIRECT_CALL
        self.now.entered.site = last.address
        if self.table.c.header.instruction_set == InstructionSet.IA64:
            self.now.entered.return_ip = (last.address & ~<uint64_t>(BUNDLE_BYTES - 1)) + BUNDLE_BYTES
        else:
            self.now.entered.return_ip = last.address + last.length

    cdef void retire_block(self, bint mispredicted, uint64_t cycle) noexcept nogil:
        """The block that ended retired on the machine in a cycle; ``mispredicted``: its branch was."""

    cdef void push(self) noexcept nogil:
        cdef uint64_t capacity
        cdef CallFrame* calls
        if self.now.depth == self.now.capacity:
            capacity = min(2 * self.now.capacity + 64, <uint64_t>MAX_CALL_STACK)
            calls = <CallFrame*>realloc(self.now.calls,
                                        capacity * sizeof(CallFrame)) if capacity > self.now.capacity else NULL
            if calls == NULL:
                self.now.beyond += 1
                return
            self.now.calls, self.now.capacity = calls, capacity
        self.now.calls[self.now.depth] = self.now.entered
        self.now.depth += 1

    cdef void pop(self, uint64_t ip) noexcept nogil:
        cdef uint64_t depth = self.now.depth
        if self.now.beyond:                  # of a call beyond the capacity
            self.now.beyond -= 1
            return
        while depth:
            depth -= 1
            if self.now.calls[depth].return_ip == ip:
                self.now.depth = depth
                return

    def sites(self):
        """Returns the call instructions, the latest first: as many as fit into a sample."""
        cdef uint64_t i
        return tuple([self.now.calls[self.now.depth - 1 - i].site for i in range(min(self.now.depth,
        MAX_SAMPLE_CALLS))])
