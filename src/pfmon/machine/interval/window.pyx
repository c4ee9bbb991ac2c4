"""The window: which instructions may dispatch before others are done.

Instructions dispatch in program order, and leave the window in program order when they are done. So one whose data comes
late lets `core.window` instructions dispatch from itself on, and then nothing until its data is there. Misses whose
instructions are in the window together are under way together, unless the address of one comes from another: what
registers wait for is followed from instruction to instruction for as long as something is pending.
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

    cdef int64_t address_ready(self, const Operands* operands, int64_t now) noexcept nogil:
        """The cycle in which the address of an access is known."""
        return latest(self.registers, operands.addressed, now)

    cdef int64_t operands_ready(self, const Operands* operands, int64_t now) noexcept nogil:
        """The cycle in which all that an instruction reads is there."""
        return latest(self.registers, operands.read, now)

    cdef void result(self, const Operands* operands, int64_t ready) noexcept nogil:
        """What an instruction writes is there in a cycle."""
        cdef uint64_t left = operands.written
        while left:
            self.registers[trailing_zeros(left)] = ready
            left &= left - 1
        if ready > self.pending:
            self.pending = ready

    cdef int64_t store(self, int64_t now, int64_t ready) noexcept nogil:
        """A store that missed waits in the store buffer until its line is there; the cycle in which there is room."""
        cdef int64_t room = max(now, self.stores[self.next_store])
        self.stores[self.next_store] = ready
        self.next_store = self.next_store + 1 if self.next_store + 1 < self.store_count else 0
        return room


cdef inline int64_t latest(const int64_t* registers, uint64_t wanted, int64_t now) noexcept nogil:
    """The latest cycle in which one of some registers is there, not before now."""
    while wanted:
        now = max(now, registers[trailing_zeros(wanted)])
        wanted &= wanted - 1
    return now
