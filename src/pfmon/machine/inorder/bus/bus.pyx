"""The front-side bus as used by a core, and memory.

The address bus takes one request at a time, the data bus one line at a time; reads go before writes as long as fewer
writes are pending than the write queue holds. Two cores may share it (arbiter.pyx).
"""

from libc.stdint cimport int64_t, uint64_t


cdef enum:
    TRANSFERS_A_CLOCK = 2        # the bus moves data on both edges


cdef class Bus:
    """Bus and memory with the figures of ``config`` ([bus], [memory], [machine], l3.line, l3.victims)."""

    def __cinit__(self, config):
        self.front = FrontSideBus(config)
        transfers = config["l3.line"] // config["bus.width"]
        core, bus = config["machine.frequency"], config["bus.frequency"]
        self.memory_latency = config["memory.latency"]
        self.line_cycles = max(1, (transfers * core + bus // 2) // bus)
        self.line_clocks = max(1, transfers // TRANSFERS_A_CLOCK)
        self.partial_cycles = max(1, self.line_cycles // self.line_clocks)
        self.request_cycles = config["bus.request"]
        self.in_order_cycles = config["bus.in_order"]
        self.castouts = config["bus.castouts"]
        self.writes_bound = self.line_cycles * (config["l3.victims"] + config["bus.write_queue"])
        start_queue(&self.requests, config["bus.request_queue"])
        start_queue(&self.memory_reads, config["bus.request_queue"])
        start_queue(&self.system, config["bus.system_queue"])
        start_queue(&self.writes, config["bus.write_queue"])
        start_queue(&self.castout, config["bus.castout_queue"])
        start_queue(&self.snoops, config["bus.queue"])

    cdef void share(self, Bus other, Arbiter arbiter, EventSetAccounting shares):
        cdef FrontSideBus own = self.front
        self.front, self.arbiter = other.front, arbiter
        shares.replace_queue(&own.in_order, &self.front.in_order)

    # Requests the address bus, which takes one request at a time; returns the cycle of the request.
    cdef int64_t request(self, int64_t now) noexcept nogil:
        cdef int64_t start = first_free_cycle(&self.front.in_order, now)
        if start < self.front.requests_end:
            start = self.front.requests_end
        self.front.requests_end = start + self.request_cycles
        self.asked = start
        enter_queue(&self.front.in_order, start, start + self.in_order_cycles)
        return start

    cdef int64_t read(self, EventLog* event_log, Transaction transaction, int64_t now) noexcept nogil:
        cdef int64_t entered, start, ready, gap
        if self.arbiter is not None:
            self.arbiter.await_turn(now)
        entered = first_free_cycle(&self.requests, now)
        entered = first_free_cycle(&self.system, entered)
        start = self.request(entered)
        enter_queue(&self.system, entered, start + self.request_cycles)
        ready = start + self.memory_latency
        if ready <= self.front.data_end:
            ready = self.front.data_end
        elif self.front.writes_due:
            gap = ready - self.front.data_end
            self.front.writes_due = self.front.writes_due - gap if self.front.writes_due > gap else 0
        if self.front.writes_due > self.writes_bound:
            ready += self.front.writes_due - self.writes_bound
            self.front.writes_due = self.writes_bound
        if ready == self.front.data_end:
            record(event_log, Occurrence.BUS_BACK_TO_BACK, self.line_clocks)
        self.front.data_end = ready + self.line_cycles
        record(event_log, Occurrence.BUS_READ_DATA + <uint32_t>transaction, 1)
        record(event_log, Occurrence.BUS_DATA_CYCLE, self.line_clocks)
        enter_queue(&self.requests, entered, self.front.data_end)
        enter_queue(&self.memory_reads, start, self.front.data_end)
        return ready

    cdef int64_t transfer(self, EventLog* event_log, bint writes, int64_t now) noexcept nogil:
        cdef int64_t entered, start, ready
        if self.arbiter is not None:
            self.arbiter.await_turn(now)
        entered = first_free_cycle(&self.system, first_free_cycle(&self.requests, now))
        start = self.request(entered)
        enter_queue(&self.system, entered, start + self.request_cycles)
        ready = max(start if writes else start + self.memory_latency, self.front.data_end)
        self.front.data_end = ready + self.partial_cycles
        record(event_log, Occurrence.BUS_WRITE_PARTIAL if writes else Occurrence.BUS_READ_PARTIAL, 1)
        record(event_log, Occurrence.BUS_DATA_CYCLE, 1)
        enter_queue(&self.requests, entered, self.front.data_end)
        return ready

    cdef void write(self, EventLog* event_log, uint64_t line, int64_t now) noexcept nogil:
        cdef int64_t leaves
        if self.arbiter is not None:
            self.arbiter.await_turn(now)
        self.front.writes_due += self.line_cycles
        record(event_log, Occurrence.BUS_WRITE_BACK, 1)
        record(event_log, Occurrence.BUS_DATA_CYCLE, self.line_clocks)
        now = first_free_cycle(&self.writes, now)
        leaves = self.request(now) + self.front.writes_due
        enter_queue(&self.writes, now, leaves)
        enter_writeback(&self.lines_written, line, now, leaves)

    cdef void cast_out(self, EventLog* event_log, uint64_t line, int64_t now) noexcept nogil:
        cdef int64_t leaves
        if not self.castouts:
            return
        if self.arbiter is not None:
            self.arbiter.await_turn(now)
        record(event_log, Occurrence.BUS_CASTOUT, 1)
        now = first_free_cycle(&self.castout, now)
        leaves = self.request(now)
        enter_queue(&self.castout, now, leaves)
        enter_writeback(&self.lines_cast_out, line, now, leaves)

    cdef void snooped(self, int64_t now) noexcept nogil:
        enter_queue(&self.snoops, now, now + self.in_order_cycles)     # answers are in the order of requests

    cdef int64_t invalidate(self, EventLog* event_log, int64_t now) noexcept nogil:
        cdef int64_t done
        if self.arbiter is not None:
            self.arbiter.await_turn(now)
        now = first_free_cycle(&self.requests, now)
        done = self.request(now) + self.in_order_cycles
        record(event_log, Occurrence.BUS_INVALIDATE, 1)
        enter_queue(&self.requests, now, done)
        return done

    cdef void account_levels(self, EventSetAccounting shares) noexcept nogil:
        """Accounts these levels by event set."""
        account_queue(shares, &self.requests)
        account_queue(shares, &self.memory_reads)
        account_queue(shares, &self.system)
        account_queue(shares, &self.front.in_order)
        account_queue(shares, &self.writes)
        account_queue(shares, &self.castout)
        account_queue(shares, &self.snoops)

    cdef bint lost(self) noexcept nogil:
        """Whether a queue had too many entries."""
        return (self.requests.lost or self.memory_reads.lost or self.system.lost or self.front.in_order.lost
                or self.writes.lost or self.castout.lost or self.snoops.lost)

    cdef void finish(self, int64_t now) noexcept nogil:
        finish_queue(&self.requests, now)
        finish_queue(&self.memory_reads, now)
        finish_queue(&self.system, now)
        finish_queue(&self.front.in_order, now)
        finish_queue(&self.writes, now)
        finish_queue(&self.castout, now)
        finish_queue(&self.snoops, now)

    def levels(self) -> dict[str, list[int]]:
        """Cycles with 0, 1, ... entries in each queue."""
        return {
            "BRQ": queue_levels(&self.requests),
            "MEM_READ": queue_levels(&self.memory_reads),
            "SI_RQ": queue_levels(&self.system),
            "IOQ": queue_levels(&self.front.in_order),
            "SI_WRITEQ": queue_levels(&self.writes),
            "SI_CCQ": queue_levels(&self.castout),
            "SNOOPQ": queue_levels(&self.snoops),
        }


cdef class Snooper:
    """What snoops requests on the bus (coherence.pyx). The base class has no lines."""

    cdef int snoop(self, uint64_t address, bint invalidate, bint fetches, int64_t now) noexcept nogil:
        return INVALID
