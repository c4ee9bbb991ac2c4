"""The window: it limits how many instructions may dispatch before older ones are done.

Instructions dispatch in program order, and leave the window in program order when they are done. So one whose data
arrives late lets `core.window` instructions dispatch, itself included, and stalls dispatch until its data is there.
Misses of instructions in the same window overlap, unless the address of one depends on another: dependences of
registers are tracked from block to block (dataflow.pyx) as long as something is pending.
"""
cimport cython


cdef extern from *:
    """
    #define pfmon_trailing_zeros(bits) __builtin_ctzll(bits)
    """
    int trailing_zeros "pfmon_trailing_zeros"(uint64_t) nogil


@cython.final
cdef class Window:
    """``size``: instructions that the window holds; ``stores``: store misses that may be outstanding."""

    def __cinit__(self, EventTallies tallies, uint64_t size, uint32_t stores):
        self.tallies, self.size, self.store_count = tallies, size, stores

    cdef void wait_for(self, IntervalBlock* plan, uint32_t instruction, int64_t ready, uint32_t cause) noexcept nogil:
        """Adds an instruction of the block that dispatches next, which is done in a later cycle."""
        cdef WaitingLoad* one
        cdef uint64_t limit = self.dispatched + instruction + self.size
        if self.last - self.first == MAX_WAITING_LOADS:
            self.first += 1      # it has been in the window for long
        one = &self.waiting[self.last & (MAX_WAITING_LOADS - 1)]
        one.plan, one.limit, one.ready, one.instruction, one.cause = plan, limit, ready, instruction, cause
        self.last += 1

    cdef int64_t dispatch(self, IntervalBlock* plan, int64_t now) noexcept nogil:
        """Dispatches all of a block's instructions; returns the cycle after their stalls."""
        cdef const WaitingLoad* one
        self.dispatched += plan.length
        while self.first != self.last:
            one = &self.waiting[self.first & (MAX_WAITING_LOADS - 1)]
            if one.limit >= self.dispatched:
                break
            if one.ready > now:
                tally(self.tallies, one.plan, one.instruction, one.cause, <uint64_t>(one.ready - now))
                now = one.ready
            self.first += 1
        return now

    cdef int64_t ready(self, const OperandSource* source, int64_t now) noexcept nogil:
        """Returns the cycle in which all sources of a value are ready, not before now."""
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
        """Sets the arrival of an access of the current block that missed."""
        if number < REGISTER_BITS:
            self.late_loads |= <uint64_t>1 << number
            self.loads[number] = ready
        self.pending = max(self.pending, ready)

    cdef void retire_block(self, const Dataflow* flow, int64_t now) noexcept nogil:
        """Leaves a block: its results are ready when their sources are."""
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
        """Puts a store that missed into the store buffer until its line arrives; returns the cycle of its entry."""
        cdef int64_t room = max(now, self.stores[self.next_store])
        self.stores[self.next_store] = ready
        self.next_store = self.next_store + 1 if self.next_store + 1 < self.store_count else 0
        return room

