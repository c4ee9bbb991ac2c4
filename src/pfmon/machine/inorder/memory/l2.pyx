"""L2, or L2D and L2I: serves misses of the first level, in the order and number that the queues allow.

Data requests enter the OzQ. A hit leaves it when it is done, the first miss of a line when it has been sent to L3; a
miss holds a fill buffer until its line arrives. A release waits for all earlier accesses, an acquire delays all later
ones; both stay in the OzQ until they are done. Fetches have a queue of their own (l2_fetches.pyx).

An issued access occupies a tag port, a read also its bank of the data array. An access without a free port or bank is
cancelled and reissued (l2_banks.pxd). A fill writes its banks in the cycle before the line arrives; a victim's banks
are read in the cycle in which the line leaves. A store waits in the data buffer until no read uses its bank: it is
delayed by fills and victims alone.
"""

cdef uint32_t OPERATION[REQUEST_KINDS]
OPERATION[<int>REQUEST_READ] = Occurrence.L2_OP_LOAD
OPERATION[<int>REQUEST_FLOAT_READ] = Occurrence.L2_OP_FLOAT_LOAD
OPERATION[<int>REQUEST_WRITE] = Occurrence.L2_OP_STORE
OPERATION[<int>REQUEST_SEMAPHORE] = Occurrence.L2_OP_SEMAPHORE
OPERATION[<int>REQUEST_PREFETCH] = Occurrence.L2_OP_LFETCH
OPERATION[<int>REQUEST_WALK] = Occurrence.L2_OP_OTHER

cdef inline bint writes(int kind) noexcept nogil:
    return kind == REQUEST_WRITE or kind == REQUEST_SEMAPHORE


cdef inline void record_reference(EventLog* event_log, int kind, bint found) noexcept nogil:
    """Records the events of every data access: its kind, and whether its first lookup hit."""
    cdef uint32_t times = 2 if kind == REQUEST_SEMAPHORE else 1
    if kind != REQUEST_WRITE:
        record(event_log, Occurrence.L2_DATA_READ, 1)
    if writes(kind):
        record(event_log, Occurrence.L2_DATA_WRITE, 1)
    record(event_log, Occurrence.L2_DATA_HIT if found else Occurrence.L2_DATA_MISS, times)
    record(event_log, OPERATION[kind], 1)


cdef class L2:
    """L2 and all levels below with the figures of ``config`` ([l2] or [l2d] and [l2i], [l3], [memory], [bus])."""

    def __cinit__(self, config):
        self.split = "l2d.size" in config
        name = "l2d" if self.split else "l2"
        conversion = config["latency.load_float.fmac"]
        self.l3 = L3(config)
        self.data = cache_tags(config, name)
        self.code = cache_tags(config, "l2i") if self.split else self.data
        self.latency = config[f"{name}.latency"]
        self.lookup_cycles = config[f"{name}.look"]
        self.queued_latency = config[f"{name}.queued_latency"]
        self.semaphore_latency = config[f"{name}.semaphore_latency"]
        self.float_extra = config[f"{name}.float_latency"] - conversion - self.latency
        self.l3_float_extra = config["l3.float_latency"] - conversion - config["l3.latency"]
        self.reissue_latency = max(1, self.queued_latency - self.latency)
        start_banks(&self.banks, config[f"{name}.banks"], config[f"{name}.bank"], config[f"{name}.tag_ports"],
                    config[f"{name}.line"])
        start_queue(&self.ozq, config[f"{name}.queue"])
        start_queue(&self.fills, config[f"{name}.fills"])
        start_queue(&self.data_buffer, config[f"{name}.data_buffer"])
        start_queue(&self.acquires, config[f"{name}.queue"])
        start_queue(&self.releases, config[f"{name}.queue"])
        self.victims = L2Victims(config, name, self.l3, self.split)
        self.fetches = L2Fetches(config, self.code, self.victims, self.lookup_cycles)
        self.fetches.mshrs = NULL if self.split else &self.mshrs

    cdef int64_t request(self, EventLog* event_log, uint64_t address, uint32_t size, int kind, uint32_t flags,
                         int64_t now) noexcept nogil:
        if kind == REQUEST_FETCH or kind == REQUEST_FETCH_PREFETCH:
            return self.fetches.request(event_log, address, kind, now)
        return self.request_data(event_log, address, kind, flags, now)

    cdef int64_t request_data(self, EventLog* event_log, uint64_t address, int kind, uint32_t flags,
                              int64_t now) noexcept nogil:
        cdef int64_t asked, start, done, entry
        cdef bint reaches_data
        asked = self.in_order(event_log, kind, flags, self.enter(kind, now))
        entry = quick_find(self.data, address)
        reaches_data = entry != ABSENT and self.data.infos[entry].ready <= asked
        start = asked
        if asked <= self.banks.latest or asked < self.busy_until:
            start = self.issue(event_log, address, kind, reaches_data, asked)
        elif self.banks.limited:                 # no conflict is possible
            occupy_bank(&self.banks,
                        bank_of(&self.banks, address) if reaches_data and kind != REQUEST_WRITE else NO_BANK,
                        asked, self.taken)
        if entry != ABSENT:
            done = self.hit(event_log, entry, address, kind, flags, asked, start)
        else:
            done = self.miss(event_log, address, kind, flags, start)
        if flags & REQUEST_ACQUIRE:
            self.ordered, self.ordering, self.ordered_by_fence = done, self.taken, 0
            enter_queue(&self.acquires, self.taken, done)
            self.busy(done)
        return self.taken if kind == REQUEST_WRITE else done

    cdef int64_t transfer(self, EventLog* event_log, bint stores, int64_t now) noexcept nogil:
        cdef int64_t start = self.enter(REQUEST_WRITE if stores else REQUEST_READ, now), done
        if start < self.ordered:
            start = self.ordered
        done = self.l3.bus.transfer(event_log, stores, start)
        enter_queue(&self.ozq, self.taken, done)
        if stores:
            enter_queue(&self.data_buffer, self.taken, done)
        self.not_before(done)
        self.busy(done)
        return done

    cdef int64_t enter(self, int kind, int64_t now) noexcept nogil:
        cdef int64_t start = first_free_cycle(&self.ozq, now)
        if start < self.last_taken:
            start = self.last_taken
        if writes(kind):
            start = first_free_cycle(&self.data_buffer, start)
        self.last_taken = self.taken = start
        return start

    cdef int64_t issue(self, EventLog* event_log, uint64_t address, int kind, bint reaches_data,
                       int64_t start) noexcept nogil:
        cdef uint32_t bank = bank_of(&self.banks, address) if reaches_data else NO_BANK
        cdef uint32_t reason = self.conflict_of(bank, kind, start)
        if reason:
            if start == self.taken:              # otherwise order has cancelled it before
                record(event_log, reason, 1)
            start += self.reissue_latency
            while self.conflict_of(bank, kind, start):
                start += 1
            if start >= self.quick_from:
                self.quick_from = start + 1
        if self.banks.limited:
            occupy_bank(&self.banks, NO_BANK if kind == REQUEST_WRITE else bank, start, self.taken)
        return start

    cdef uint32_t conflict_of(self, uint32_t bank, int kind, int64_t cycle) noexcept nogil:
        if ports_are_taken(&self.banks, cycle):
            return Occurrence.OZQ_CANCEL_OVER_SUB
        if bank == NO_BANK:
            return Occurrence.NOTHING_HAPPENED
        if kind != REQUEST_WRITE and bank_is_taken(&self.banks, bank, cycle):
            return Occurrence.OZQ_CANCEL_BANK
        return self.array_conflict(bank, kind, cycle) if cycle < self.busy_until else Occurrence.NOTHING_HAPPENED

    cdef uint32_t array_conflict(self, uint32_t bank, int kind, int64_t cycle) noexcept nogil:
        cdef uint32_t i
        cdef const Mshr* line
        i = self.mshrs.first
        while i != self.mshrs.next:
            line = &self.mshrs.mshrs[i & (MAX_MSHRS - 1)]
            i += 1
            if line.ready == cycle + 1 and line.asked_by == ASKED_BY_DATA:
                if is_in_line(&self.banks, bank, line.number << self.data.shift):
                    return Occurrence.OZQ_CANCEL_FILL_STORE if kind == REQUEST_WRITE else Occurrence.OZQ_CANCEL_FILL
                if kind == REQUEST_WRITE and line.written:
                    return Occurrence.OZQ_CANCEL_OZDATA
        i = self.victims.leaving.first
        while i != self.victims.leaving.next:
            line = &self.victims.leaving.mshrs[i & (MAX_MSHRS - 1)]
            i += 1
            if line.asked == cycle and line.asked_by == ASKED_BY_DATA \
                    and is_in_line(&self.banks, bank, line.number << self.data.shift):
                return Occurrence.OZQ_CANCEL_WRITE_BACK
        return Occurrence.NOTHING_HAPPENED

    cdef void issue_early(self, uint64_t address, bint reads, uint32_t reissues, int64_t now) noexcept nogil:
        cdef int64_t start = now + self.reissue_cycles(reissues), done = start + self.latency + self.float_extra
        if self.banks.limited:
            occupy_bank(&self.banks, bank_of(&self.banks, address) if reads else NO_BANK, start, now)
        if reissues:
            if start >= self.quick_from:
                self.quick_from = start + 1
            self.record_reissue(now, done)

    cdef int64_t reissue_cycles(self, uint32_t reissues) noexcept nogil:
        return self.reissue_latency + reissues - 1 if reissues else 0

    # Records a hit that waits in the OzQ for its bank or port alone: releases wait for it, other accesses do not.
    cdef void record_reissue(self, int64_t taken, int64_t done) noexcept nogil:
        enter_queue(&self.ozq, taken, done)
        if done > self.reads_done:
            self.reads_done = done

    cdef void busy(self, int64_t done) noexcept nogil:
        if done > self.busy_until:
            self.busy_until = done
            if done > self.quick_from:
                self.quick_from = done

    cdef int64_t in_order(self, EventLog* event_log, int kind, uint32_t flags, int64_t start) noexcept nogil:
        cdef uint32_t reason = Occurrence.NOTHING_HAPPENED
        if flags & REQUEST_RELEASE and start < max(self.latest, self.reads_done):
            reason = Occurrence.OZQ_CANCEL_RELEASE
            if self.latest_taken == self.taken:
                reason = Occurrence.OZQ_CANCEL_LATE_RELEASE
            enter_queue(&self.releases, start, max(self.latest, self.reads_done))
            start = max(self.latest, self.reads_done)
        if start < self.ordered:
            reason = Occurrence.OZQ_CANCEL_FENCE if self.ordered_by_fence else Occurrence.OZQ_CANCEL_ACQUIRE
            if self.ordering == self.taken and not self.ordered_by_fence:
                reason = Occurrence.OZQ_CANCEL_LATE_ACQUIRE
            start = self.ordered
        if reason == Occurrence.OZQ_CANCEL_RELEASE or reason == Occurrence.OZQ_CANCEL_ACQUIRE \
                or reason == Occurrence.OZQ_CANCEL_FENCE:
            if kind == REQUEST_SEMAPHORE:
                reason = Occurrence.OZQ_CANCEL_SEMAPHORE
        if reason:
            record(event_log, reason, 1)
        return start

    cdef int64_t fence(self, int64_t now) noexcept nogil:
        cdef int64_t done = self.enter(REQUEST_WALK, now) + self.latency
        if done < max(self.latest, self.reads_done):
            done = max(self.latest, self.reads_done)
        if done > self.ordered:
            self.ordered, self.ordering, self.ordered_by_fence = done, self.taken, 1
        self.busy(done)
        enter_queue(&self.ozq, self.taken, done)
        enter_queue(&self.acquires, self.taken, done)
        return done

    cdef void flush(self, EventLog* event_log, uint64_t address, int64_t now) noexcept nogil:
        cdef uint64_t line = address >> self.data.shift << self.data.shift
        cdef int64_t start = self.issue(event_log, address, REQUEST_FLUSH, 0, self.enter(REQUEST_FLUSH, now)), entry
        cdef int64_t done = start + self.latency
        cdef int state = INVALID
        record(event_log, Occurrence.L2_OP_OTHER, 1)
        entry = quick_find(self.data, address)
        if entry != ABSENT:
            state = self.data.infos[entry].state
            if self.data.infos[entry].ready > done:
                done = self.data.infos[entry].ready
            self.data.clear(entry)
            self.victims.invalidate_first_level(line, <uint64_t>1 << self.data.shift)
        entry = quick_find(self.code, address) if self.split else ABSENT
        if entry != ABSENT:
            record(event_log, Occurrence.SNOOPED_L2I_HIT, 1)
            self.code.clear(entry)
        self.l3.flush(event_log, address, state == MODIFIED, start)
        enter_queue(&self.ozq, self.taken, done)
        self.not_before(done)

    cdef int64_t hit(self, EventLog* event_log, int64_t entry, uint64_t address, int kind, uint32_t flags,
                     int64_t asked,
                     int64_t start) noexcept nogil:
        cdef int64_t done, ready = self.data.infos[entry].ready
        cdef bint on_its_way = ready > start
        cdef bint alone = 0      # a hit delayed by ordering, banks and ports alone
        cdef bint passes = 0     # it bypasses the OzQ
        record_reference(event_log, kind, not on_its_way)
        if on_its_way:
            self.record_recirculation(event_log, address, kind, start, ready)
        elif writes(kind):
            self.record_sibling(event_log, address, start)
        if not flags & REQUEST_NO_RECENCY:
            use(self.data, entry)
        if kind == REQUEST_SEMAPHORE:
            done = start + self.semaphore_latency
        elif asked >= self.busy_until:
            done = start + self.latency
            alone = not on_its_way
            passes = alone and start == self.taken
            if passes:
                record(event_log, Occurrence.L2_BYPASS_SHORT, 1)
        else:
            done = start + self.queued_latency
            if not on_its_way and start == self.taken:
                record(event_log, Occurrence.L2_BYPASS_LONG, 1)
        if writes(kind):
            if self.data.infos[entry].state == SHARED:
                record(event_log, Occurrence.L2_STORE_HIT_S, 1)
                alone = passes = 0
                ready = self.l3.invalidate(event_log, address, start)
                self.data.infos[entry].ready = ready
            self.data.infos[entry].state = MODIFIED
        if ready > done:
            done = ready
            self.busy(done)
        if kind == REQUEST_FLOAT_READ:
            done += self.float_extra
        if not alone:
            self.not_before(done)
            enter_queue(&self.ozq, self.taken, done)
        elif not passes and writes(kind):
            self.not_before(start)
            enter_queue(&self.ozq, self.taken, done)
        elif not passes:
            self.record_reissue(self.taken, done)
        if writes(kind) and not passes:
            enter_queue(&self.data_buffer, self.taken, done)
        return done

    cdef int64_t miss(self, EventLog* event_log, uint64_t address, int kind, uint32_t flags,
                      int64_t start) noexcept nogil:
        cdef L3Line line
        cdef int wanted = WANTED_OWNED if writes(kind) or flags & REQUEST_EXCLUSIVE else WANTED_DATA
        cdef int64_t entry, asked, buffered
        cdef Mshr* coming
        entry = self.data.victim(address)
        record_reference(event_log, kind, 0)
        record(event_log, Occurrence.L2_MISS_SENT, 1)
        asked = first_free_cycle(&self.fills, start)
        if asked > start:
            record(event_log, Occurrence.L2_FILLS_FULL, 1)
        buffered = self.victims.buffer_cycle(self.data, entry, mshr_free_cycle(&self.mshrs, asked))
        self.l3.read(event_log, address, wanted, not flags & REQUEST_NO_L3, buffered, &line)
        if line.sent > buffered:
            record(event_log, Occurrence.L3_REJECT_DATA, 1)
        if line.sent == self.taken and start >= self.busy_until:
            record(event_log, Occurrence.L2_BYPASS_MISS, 1)
        if wanted == WANTED_OWNED and not writes(kind):
            line.state = EXCLUSIVE
        enter_queue(&self.fills, asked, line.ready)
        enter_queue(&self.ozq, self.taken, line.ready if flags & REQUEST_ACQUIRE else line.sent + self.latency)
        if writes(kind):
            enter_queue(&self.data_buffer, self.taken, line.ready)
        self.record_miss(event_log, address, start, buffered > asked)
        coming = allocate_mshr(&self.mshrs, address >> self.data.shift, start, line.ready)
        coming.sent, coming.written = line.sent, writes(kind)
        self.victims.evict_line(event_log, self.data, entry, 0, line.sent, line.ready)
        self.data.put(entry, address, line.state, line.ready, not flags & REQUEST_NO_RECENCY)
        record(event_log, Occurrence.L2_FILL_S + line.state - SHARED, 1)
        self.busy(line.ready)
        self.not_before(line.ready)
        return line.ready + (self.l3_float_extra if kind == REQUEST_FLOAT_READ else 0)

    cdef void not_before(self, int64_t done) noexcept nogil:
        if done > self.latest:
            self.latest, self.latest_taken = done, self.taken

    cdef void record_recirculation(self, EventLog* event_log, uint64_t address, int kind, int64_t start,
                             int64_t ready) noexcept nogil:
        cdef Mshr* line = find_mshr(&self.mshrs, address >> self.data.shift, start)
        cdef uint32_t reason = recirculation_of(line, start)
        record(event_log, reason, 1)
        record(event_log, Occurrence.L2_LOOK_AGAIN, lookup_count(ready - start, self.lookup_cycles))
        if (reason == Occurrence.L2_RECIRC_FILL_HIT or reason == Occurrence.L2_RECIRC_OZQ_MISS
                or reason == Occurrence.L2_RECIRC_L1W):
            record(event_log, Occurrence.L2_SECONDARY_WRITE if writes(kind) else Occurrence.L2_SECONDARY_READ, 1)
        if line != NULL:
            if line.awaited:
                record(event_log, Occurrence.L2_BEHIND_RECIRC, 1)
            line.awaited = 1

    cdef void record_sibling(self, EventLog* event_log, uint64_t address, int64_t start) noexcept nogil:
        if start < self.busy_until and missed_same_index(&self.mshrs, self.data, address, start, 1):
            record(event_log, Occurrence.L2_RECIRC_TAG_NOTOK, 1)
            record(event_log, Occurrence.L2_LOOK_AGAIN, 1)

    cdef void record_miss(self, EventLog* event_log, uint64_t address, int64_t start, bint crowded) noexcept nogil:
        cdef uint32_t reason
        if missed_same_index(&self.mshrs, self.data, address, start, self.split):
            reason = Occurrence.L2_RECIRC_SAME_INDEX
        elif find_mshr(&self.victims.leaving, address >> self.data.shift, start) != NULL:
            reason = Occurrence.L2_RECIRC_VIC_PEND
        elif crowded:
            reason = Occurrence.L2_RECIRC_VIC_BUF_FULL
        else:
            return
        record(event_log, reason, 1)
        record(event_log, Occurrence.L2_LOOK_AGAIN, 1)

    cdef bint quick(self, uint64_t address, int kind, int64_t now) noexcept nogil:
        cdef int64_t entry
        if now < self.quick_from:
            return 0
        entry = quick_find(self.data, address)
        if entry == ABSENT or self.data.infos[entry].ready > now:
            return 0
        if kind == REQUEST_WRITE:
            if self.data.infos[entry].state < EXCLUSIVE or now < self.latest:
                return 0             # a release would wait
            self.data.infos[entry].state = MODIFIED
        use(self.data, entry)
        return 1

    cdef int64_t find_plain_line(self, uint64_t address, int64_t now) noexcept nogil:
        cdef int64_t entry
        if now < self.quick_from or now < self.last_taken or now < self.ordered \
                or first_free_cycle(&self.ozq, now) > now:
            return ABSENT
        entry = quick_find(self.data, address)
        return entry if entry != ABSENT and self.data.infos[entry].ready <= now else ABSENT

    cdef int64_t read_plain(self, int64_t entry, int64_t now) noexcept nogil:
        self.last_taken = self.taken = now
        use(self.data, entry)
        return now + self.latency

    cdef void record_quick(self, EventLog* event_log, int kind, uint32_t reissues) noexcept nogil:
        record_reference(event_log, kind, 1)
        record(event_log, Occurrence.OZQ_CANCEL_BANK if reissues else Occurrence.L2_BYPASS_SHORT, 1)

    cdef void account_levels(self, EventSetAccounting shares) noexcept nogil:
        """Accounts these levels by event set."""
        account_queue(shares, &self.ozq)
        account_queue(shares, &self.fills)
        account_queue(shares, &self.victims.buffers)
        account_queue(shares, &self.data_buffer)
        account_queue(shares, &self.acquires)
        account_queue(shares, &self.releases)
        self.l3.bus.account_levels(shares)

    cdef bint lost(self) noexcept nogil:
        """Whether a queue had too many entries, here or below."""
        return (self.ozq.lost or self.fills.lost or self.data_buffer.lost or self.acquires.lost or self.releases.lost
                or self.victims.buffers.lost or self.victims.write_buffers.lost or self.fetches.queue.lost
                or self.l3.tracked.lost or self.l3.bus.lost())

    cdef void finish(self, int64_t now) noexcept nogil:
        finish_queue(&self.ozq, now)
        finish_queue(&self.fills, now)
        finish_queue(&self.victims.buffers, now)
        finish_queue(&self.data_buffer, now)
        finish_queue(&self.acquires, now)
        finish_queue(&self.releases, now)
        self.l3.bus.finish(now)

    # For tests and tools.

    def request_at(
        self, address: int, kind: int, now: int, flags: int = 0
    ) -> tuple[int, int, list[tuple[int, int]]]:
        """Performs one request (kinds and flags of l2.pxd): cycles of arrival and of acceptance, occurrences."""
        cdef EventLog event_log
        event_log.count, event_log.context = 0, 0
        ready = self.request(&event_log, address, 8, kind, flags, now)
        return ready, self.taken, recorded(&event_log)

    def quick_at(self, address: int, kind: int, now: int) -> bool:
        """Calls quick() for a request."""
        return self.quick(address, kind, now)

    def finish_at(self, now: int) -> None:
        """Calls finish()."""
        self.finish(now)

    def stores(self) -> dict[str, TagStore]:
        """Its tags: "data", "code" (the same if L2 is unified), "l3"."""
        return {"data": self.data, "code": self.code, "l3": self.l3.tags}

    def levels(self) -> dict[str, list[int]]:
        """Cycles with 0, 1, ... entries in each queue; of those that count when they are full, [not full, full]."""
        return {
            "OZQ_FULL": full(queue_levels(&self.ozq)),
            "FILLB_FULL": full(queue_levels(&self.fills)),
            "VICTIMB_FULL": full(queue_levels(&self.victims.buffers)),
            "OZDB_FULL": full(queue_levels(&self.data_buffer)),
            "OZQ_ACQUIRE": present(queue_levels(&self.acquires)),
            "OZQ_RELEASE": present(queue_levels(&self.releases)),
            **self.l3.bus.levels(),
        }


def full(cycles: list[int]) -> list[int]:
    """Cycles by entries -> cycles in which it was not full, and full."""
    *others, last = cycles
    return [sum(others), last]


def present(cycles: list[int]) -> list[int]:
    """Cycles by entries -> cycles in which it was empty, and not empty."""
    return [cycles[0], sum(cycles[1:])]
