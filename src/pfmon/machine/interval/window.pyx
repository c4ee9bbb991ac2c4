"""The window: which instructions may dispatch before others are done.

Instructions dispatch in program order, and leave the window in program order when they are done. So one whose data comes
late lets `core.window` instructions dispatch from itself on, and then nothing until its data is there. Misses whose
instructions are in the window together are under way together, unless the address of one comes from another: what
registers wait for is followed from block to block (dataflow.pyx) for as long as something is pending.
"""

cimport cython

from pfmon.machine.interval.tallies cimport tally

cdef extern from *:
    """
    #define pfmon_trailing_zeros(bits) __builtin_ctzll(bits)
    """
    int trailing_zeros "pfmon_trailing_zeros"(uint64_t) nogil


@cython.final
cdef class Window:
    """``size``: instructions that the window holds; ``stores``: stores that may be under way to memory."""

    def __cinit__(self, Tallies tallies, uint64_t size, uint32_t stores):
        self.tallies, self.size, self.store_count = tallies, size, stores

    cdef void wait_for(self, BlockPlan* plan, uint32_t instruction, int64_t ready, uint32_t cause) noexcept nogil:
        """An instruction of the block that dispatches next is done in a later cycle."""
        cdef Waiting* one
        cdef uint64_t limit = self.dispatched + instruction + self.size
        if self.last - self.first == MOST_WAITING:
            self.first += 1      # it has been in the window for long
        one = &self.waiting[self.last & (MOST_WAITING - 1)]
        one.plan, one.limit, one.ready, one.instruction, one.cause = plan, limit, ready, instruction, cause
        self.last += 1

    cdef int64_t dispatch(self, BlockPlan* plan, int64_t now) noexcept nogil:
        """All of a block's instructions dispatch; the cycle after what they had to wait for."""
        cdef const Waiting* one
        self.dispatched += plan.length
        while self.first != self.last:
            one = &self.waiting[self.first & (MOST_WAITING - 1)]
            if one.limit >= self.dispatched:
                break
            if one.ready > now:
                tally(self.tallies, one.plan, one.instruction, one.cause, <uint64_t>(one.ready - now))
                now = one.ready
            self.first += 1
        return now

    cdef int64_t ready(self, const Source* source, int64_t now) noexcept nogil:
        """The cycle in which all is there that a value comes from, not before now."""
        cdef uint64_t left = source.registers & self.late
        while left:
            now = max(now, self.registers[trailing_zeros(left)])
            left &= left - 1
        left = source.loads & self.late_loads
        while left:
            now = max(now, self.loads[trailing_zeros(left)])
            left &= left - 1
        return now

    cdef void load(self, uint32_t number, int64_t ready) noexcept nogil:
        """The data of an access of the block at hand comes late."""
        if number < REGISTER_BITS:
            self.late_loads |= <uint64_t>1 << number
            self.loads[number] = ready
        self.pending = max(self.pending, ready)

    cdef void leave_block(self, const Dataflow* flow, int64_t now) noexcept nogil:
        """A block has passed: its results are there when what they come from is."""
        cdef int64_t ready[REGISTER_BITS]
        cdef uint64_t late = self.late & ~flow.written
        cdef uint32_t i
        if flow.read & self.late | self.late_loads:
            for i in range(flow.results):
                ready[i] = self.ready(&flow.result[i].source, now)
            for i in range(flow.results):
                if ready[i] > now:
                    late |= <uint64_t>1 << flow.result[i].number
                    self.registers[flow.result[i].number] = ready[i]
        self.late, self.late_loads = late, 0

    cdef int64_t store(self, int64_t now, int64_t ready) noexcept nogil:
        """A store that missed waits in the store buffer until its line is there; the cycle in which there is room."""
        cdef int64_t room = max(now, self.stores[self.next_store])
        self.stores[self.next_store] = ready
        self.next_store = self.next_store + 1 if self.next_store + 1 < self.store_count else 0
        return room

