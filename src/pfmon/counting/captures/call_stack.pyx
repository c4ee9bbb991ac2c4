"""The call stack of a program, followed block by block: exact, as every call and return is in the stream.

A return pops the call with its target as return address, and all calls above it. So calls left without a return
(longjmp, an exception, a switched stack) are popped when a function below them returns. A return to any other address
(from a signal handler, or a br.ret used as a jump) changes nothing. Each thread has its own stack.

In system mode each task of a kernel has one, if the stream has marks of tasks. An interruption is a call of its handler by
the instruction that it interrupts; a return from interruption to that bundle, or to the next one, ends it, and so ends what
the handler has called. A return to the lowest privilege level ends all that a higher one has called.
"""

from libc.stdint cimport uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from pfmon.stream._stream cimport (
    BLOCK_MASK, BlockHead, BlockInstruction, BranchKind, Ia64Kind, InstructionSet, Kind, Mark, TASK_NUMBER, accesses_of, executed,
    mark_kind, mark_value, unpacked_address)

cdef enum:
    MAX_CALL_STACK = 1 << 20            # calls: more are a runaway recursion
    MAX_SAMPLE_CALLS = 1 << 10              # of a sample
    BUNDLE_BYTES = 16
    TASK_STACKS = 1 << 16               # tasks' numbers as threads: from here on
    LOWEST_LEVEL = 3
    MAX_SYSTEM_ENTRIES = 64             # interruptions within each other: more are not followed


cdef class CallStack:
    """``traced``: the words that `read` gets have addresses between them."""

    def __cinit__(self, BlockTable table, bint traced=False):
        self.table, self.traced = table, traced

    def __dealloc__(self):
        cdef uint64_t thread
        free(self.now.calls)
        free(self.now.entries)
        for thread in range(self.thread_count):
            free(self.threads[thread].calls)
            free(self.threads[thread].entries)
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
                elif mark_kind(words[i]) == Mark.INTERRUPTED or mark_kind(words[i]) == Mark.LEVEL_ENTERED:
                    self.follow_system(words[i])
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
        if self.now.leaving >= TO_HANDLER:
            self.leave_system(ip)
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
            if self.now.floor and last.kind & Kind.PRIVILEGED and last.isa_kind & Ia64Kind.RSE_EVENT:
                self.now.leaving = FROM_HANDLER          # rfi
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
        while depth > self.now.floor:
            depth -= 1
            if self.now.calls[depth].return_ip == ip:
                self.now.depth = depth
                return

    cdef void follow_system(self, uint64_t mark) noexcept nogil:
        """Takes a mark of an interruption, or of another privilege level."""
        if self.now.leaving >= TO_HANDLER and not (self.now.leaving == FROM_HANDLER and mark_value(mark) == LOWEST_LEVEL):
            self.leave_system(unpacked_address(mark))    # no instruction has retired since
        if mark_kind(mark) == Mark.INTERRUPTED:
            self.enter_system(unpacked_address(mark))
        elif mark_value(mark) == LOWEST_LEVEL:
            self.now.leaving = RETURN_TO_USER if self.now.leaving == BranchKind.RETURN_BRANCH else TO_USER
        elif self.now.entry_count == 0:
            self.enter_system(0)

    cdef void enter_system(self, uint64_t return_ip) noexcept nogil:
        """A higher privilege level was entered, or a handler that returns to an address."""
        cdef uint64_t capacity = 2 * self.now.entry_capacity + 4
        cdef SystemEntry* entries
        cdef SystemEntry* entry
        if self.now.entry_count == MAX_SYSTEM_ENTRIES:
            return
        if self.now.entry_count == self.now.entry_capacity:
            entries = <SystemEntry*>realloc(self.now.entries, capacity * sizeof(SystemEntry))
            if entries == NULL:
                return
            self.now.entries, self.now.entry_capacity = entries, capacity
        entry = &self.now.entries[self.now.entry_count]
        entry.depth, entry.return_ip = self.now.depth, return_ip
        entry.leaving, entry.entered = self.now.leaving, self.now.entered
        self.now.entry_count += 1
        if return_ip:
            self.now.leaving = TO_HANDLER
            self.now.entered.site, self.now.entered.return_ip = return_ip, 0

    cdef void leave_system(self, uint64_t ip) noexcept nogil:
        """Applies the mark, or the return from interruption, behind the last block: what was left then is in force again,
        at the address where it goes on."""
        cdef uint64_t i
        cdef int leaving = self.now.leaving
        self.now.leaving = BranchKind.NO_BRANCH
        if leaving == TO_HANDLER:
            self.now.leaving = BranchKind.DIRECT_CALL
            self.now.floor = self.now.depth + 1
        elif leaving >= TO_USER:
            if self.now.entry_count:
                self.return_to_entry(0)
            else:                        # a task that begins in the kernel
                self.now.depth = self.now.floor = 0
            if leaving == RETURN_TO_USER:
                self.now.leaving = BranchKind.RETURN_BRANCH
        else:
            for i in range(self.now.entry_count, 0, -1):
                if (ip & ~<uint64_t>(BUNDLE_BYTES - 1)) - self.now.entries[i - 1].return_ip <= BUNDLE_BYTES:
                    self.return_to_entry(i - 1)
                    return

    cdef void return_to_entry(self, uint64_t number) noexcept nogil:
        """Leaves an entry, and all within it."""
        cdef uint64_t i
        self.now.depth = self.now.entries[number].depth
        self.now.leaving, self.now.entered = self.now.entries[number].leaving, self.now.entries[number].entered
        self.now.entry_count, self.now.floor = number, 0
        for i in range(number, 0, -1):
            if self.now.entries[i - 1].return_ip:
                self.now.floor = self.now.entries[i - 1].depth + 1
                return

    def sites(self):
        """Returns the call instructions, the latest first: as many as fit into a sample."""
        cdef uint64_t i
        return tuple([self.now.calls[self.now.depth - 1 - i].site for i in range(min(self.now.depth,
        MAX_SAMPLE_CALLS))])
