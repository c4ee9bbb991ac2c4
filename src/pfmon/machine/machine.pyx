"""The machine: reads the traced stream (docs/stream.md), block by block, in program order, and gives it a time.

What it records belongs to the slot in force: so what happens while one event set counts can be told from what happens
while another does, or none.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from pfmon.machine.code cimport Plan
from pfmon.machine.items cimport Items
from pfmon.machine.levels cimport MOST_LEVEL, Level, set_level
from pfmon.machine.shares cimport Shares
from pfmon.machine.timing cimport MOST_HELD, MOST_MARKS
from pfmon.stream.failure cimport Failure
from pfmon.stream.table cimport BlockHead, accesses_of
from pfmon.stream.words cimport BLOCK_MASK


cdef class Machine(Timing):
    """As `Timing`; ``slots``: how many there are."""

    def __cinit__(self, config, table, ranges=(), bint memo=True, uint32_t slots=1):
        self.shares = Shares(slots, config)
        self.shares.watch(&self.current_registers, NULL, MOST_LEVEL + 1)
        self.shares.watch(&self.dirty_registers, NULL, MOST_LEVEL + 1)
        self.data.watch(self.shares)
        self.fetch.watch(self.shares)
        self.lower.watch(self.shares)

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0, word, length
        cdef const BlockHead* head
        while i < count:
            word = words[i]
            if word >> 63:
                if self.mark_count == MOST_MARKS:
                    self.fail(Failure.TOO_MANY_MARKS)
                else:
                    self.marks[self.mark_count] = word
                    self.mark_count += 1
                i += 1
                continue
            head = &self.plans.table.c.heads[word & BLOCK_MASK]
            if self.block != NULL:
                self.block_ran(head.ip)
            elif self.mark_count:
                self.late_marks()
            if self.due:
                self.change_slot()
            length = 1 + accesses_of(head, word)
            self.block = words + i
            self.block_count = length
            i += length
        if self.block != NULL and self.block != self.held and self.block_count <= MOST_HELD:
            memcpy(self.held, self.block, self.block_count * sizeof(uint64_t))
            self.block = self.held

    # --- slots

    cdef void use_slot(self, uint32_t slot) noexcept nogil:
        """From the next instruction on this slot is in force; a block that is held still belongs to the slot before, with
        the marks that may come."""
        self.turn = slot
        self.due = True
        if self.block == NULL and self.mark_count == 0:
            self.change_slot()

    cdef void change_slot(self) noexcept nogil:
        """The slot that is to be in force is."""
        self.due = False
        if self.turn != self.slot:
            self.share()
            self.slot = self.turn
            self.records.use(self.slot)
            self.memo.use(self.slot)

    cdef void share(self) noexcept nogil:
        """What stood up to now belongs to the slot in force. The front end may be behind the pipeline, and the
        prefetcher behind both."""
        cdef int64_t front = self.pipeline.front_end.ready
        if self.state:
            front = self.now + self.memo.state_at(self.state).front
        self.shares.share(self.slot, self.now, self.fetch.settled(front if front < self.now else self.now))

    cdef void advance(self, uint64_t next_ip) noexcept nogil:
        """Nothing is held any more."""
        if self.block != NULL:
            self.block_ran(next_ip)
            self.block = NULL
        elif self.mark_count:
            self.late_marks()
        if self.due:
            self.change_slot()

    def set_slot(self, uint32_t slot):
        """As `use_slot`: from the next instruction on this slot is in force."""
        self.use_slot(slot)

    def settle(self, uint64_t next_ip):
        """Bring the records up to the instruction at ``next_ip``. What follows has the same time as without it; a cycle
        in which more may issue is recorded when it ends."""
        self.advance(next_ip)
        self.memo.write_out()
        self.share()

    cdef void late_marks(self) noexcept nogil:
        """Marks of a block that is not held any more."""
        cdef uint32_t marks = self.mark_count
        if self.items is not None:
            self.records.begin_log()
            self.ran = NULL
        self.apply_late_marks()
        if self.items is not None:
            self.show_items(marks)

    # --- what Python reads

    def show(self, Items items):
        """Show what is recorded to ``items`` when it is, block by block. Before the stream begins."""
        self.items = items

    def finish(self):
        """The stream has ended: bring the records up to date. May be called again."""
        self.advance(0)
        if self.items is not None:
            self.records.begin_log()
            self.ran = NULL
        self.go_on_here()
        if self.pipeline.open:
            self.pipeline.close(0, NULL, 0)
        if self.pipeline.earliest - 1 > self.now:    # the register stack engine worked last
            self.now = self.pipeline.now = self.pipeline.earliest - 1
        if self.items is not None:
            self.show_items(0)
        self.memo.write_out()
        set_level(&self.current_registers, self.now, 0)
        set_level(&self.dirty_registers, self.now, 0)
        self.data.finish(self.now)
        self.fetch.finish(self.now)
        self.lower.finish(self.now)
        self.shares.share(self.slot, self.now, self.now)

    @property
    def cycles(self) -> int:
        """Cycles so far: those in which something issued, and back-end bubbles."""
        return self.now

    # as of `settle` or `finish`; ``slots``: of which, None: of all

    def time(self, slots=None):
        """Cycles of the core and of the bus, whole ones."""
        return self.shares.cycles_of(slots)

    def occurrences(self, slots=None):
        """{(block or None, instruction, Occurrence, in the data ranges): times}."""
        return self.records.occurrences(slots)

    def bubbles(self, slots=None):
        """(block, instruction, Cause, cycles): cycles in which nothing issued."""
        return self.records.bubbles(0, slots)

    def front_bubbles(self, slots=None):
        """(block, instruction, FrontCause, cycles): cycles in which the front end delivered nothing."""
        return self.records.bubbles(1, slots)

    def groups(self, slots=None):
        """What issued together, and in how many cycles (records.pyx)."""
        return self.records.groups(slots)

    def levels(self, slots=None):
        """Name -> cycles at level 0, 1, 2, ..."""
        self.shares.show(slots)
        try:
            return {
                "RSE_CURRENT_REGS": histogram(&self.current_registers),
                "RSE_DIRTY_REGS": histogram(&self.dirty_registers),
                **self.data.levels(),
                **self.fetch.levels(),
                **self.lower.levels(),
            }
        finally:
            self.shares.hide()


cdef object histogram(const Level* level):
    cdef uint32_t i
    return [level.cycles[i] for i in range(128)]
