"""L1I, the instruction TLBs, the page walker for them, demand fetches and the streaming buffer.

A fetch that misses L1I requests the line from L2. Prefetched lines (instruction_prefetch.pyx) arrive in the streaming
buffer and move to L1I when they are fetched; in flight they are in the request address buffer (RAB), where a fetch may
hit them.
"""

from collections.abc import Mapping

from pfmon.stream._stream cimport WALK_INSERTED


cdef class InstructionFetch:
    """The instruction side with the figures of ``config`` ([l1i], [itlb1], [itlb2], [vhpt]) in front of ``l2``.

    ``predictor`` is notified of lines that leave L1I.
    """

    def __cinit__(self, config: Mapping, L2 l2, BranchPredictor predictor=None):
        cdef int i
        level2 = "l2i" if "l2i.size" in config else "l2"
        page = min(config["itlb1.page"], config["vhpt.page"])
        self.l2 = l2
        self.predictor = predictor
        self.cache = cache_tags(config, "l1i")
        self.tlb1 = Tlb(config, "itlb1", page)
        self.tlb2 = Tlb(config, "itlb2", config["vhpt.page"]) if "itlb2.entries" in config else None
        self.transfer_cycles = config["itlb2.penalty"] if "itlb2.entries" in config else 0
        self.table = PageTable()
        self.prevalidated = config["l1i.prevalidated"]
        self.line = config["l1i.line"]
        self.brought = max(config["l1i.line"], config["l1i.brought"])
        self.line_shift = self.cache.shift
        self.tlb_shift = self.tlb1.tags.shift
        self.page_lines_shift = self.tlb_shift - self.line_shift
        self.page_shift = config["vhpt.page"].bit_length() - 1
        self.entry_shift = LONG_ENTRY_SHIFT if config["vhpt.format"] == "long" else SHORT_ENTRY_SHIFT
        data = "l2d" if level2 == "l2i" else "l2"
        self.walk_cycles = max(0, config["vhpt.walk"] - config[f"{data}.latency"])
        self.software_cycles = config["vhpt.software"]
        start_buffer(&self.buffer, config["l1i.streaming_buffer"])
        self.stream_lines = config["l1i.stream"]
        start_queue(&self.requests, config["l1i.fills"])
        start_queue(&self.hints, config["l1i.hints"])
        self.last_page = NO_PAGE
        self.recent_mask = min(self.cache.sets, RECENT_CODE_LINES) - 1 if self.cache.set_mask else 0
        for i in range(RECENT_CODE_LINES):
            self.recent[i].line = NO_LINE
        start_groups(self.groups)

    cdef bint quick(self, uint64_t address, int64_t now) noexcept nogil:
        return self.quick_line(address >> self.line_shift, now)

    cdef inline bint quick_line(self, uint64_t number, int64_t now) noexcept nogil:
        cdef const RecentFetch* recent = &self.recent[number & self.recent_mask]
        if recent.line == number and number >> self.page_lines_shift == self.last_page:
            return now >= recent.ready
        return self.quick_otherwise(number << self.line_shift, now)

    cdef bint quick_otherwise(self, uint64_t address, int64_t now) noexcept nogil:
        cdef int64_t entry
        if address >> self.tlb_shift != self.last_page:
            if not lookup(self.tlb1, address | self.thread):
                return 0
            self.last_page = address >> self.tlb_shift
        entry = quick_find(self.cache, address)
        if entry == ABSENT or self.cache.infos[entry].ready > now:
            return 0
        use(self.cache, entry)
        self.used(address, self.cache.infos[entry].ready)
        return 1

    cdef inline void used(self, uint64_t address, int64_t ready) noexcept nogil:
        cdef uint64_t number = address >> self.line_shift
        self.recent[number & self.recent_mask].line = number
        self.recent[number & self.recent_mask].ready = ready

    cdef void record_quick(self, EventLog* event_log) noexcept nogil:
        record(event_log, Occurrence.L1I_READ, 1)

    cdef void fetch(self, EventLog* event_log, uint64_t address, int64_t now, Fetched* out) noexcept nogil:
        cdef int64_t translated, entry
        if is_due(self, now):
            pump(self, event_log, now)
        record(event_log, Occurrence.L1I_READ, 1)
        out.asked, out.under_way, out.level, out.kernel = -1, 0, TlbLevel.TLB_HIT, 0
        if self.pages is None:
            translated = self.translate(event_log, address, now, out)
        else:
            translated = self.translate_tagged(event_log, address, now, out)
        out.cause = FrontCause.FRONT_TLBMISS
        out.second_cycles = 0
        out.second_cause = FrontCause.FRONT_IMISS
        entry = quick_find(self.cache, address)
        if entry != ABSENT and self.cache.infos[entry].ready <= translated:
            self.cache.touch(entry)
            out.ready = translated
        else:
            out.ready = self.fetch_line(event_log, address, entry, translated, out)
            if translated > now:
                out.second_cycles = <uint32_t>(out.ready - translated)
            else:
                out.cause = out.second_cause
        self.used(address, out.ready)

    # Translates the window's address; returns the cycle of the translation.
    cdef int64_t translate(self, EventLog* event_log, uint64_t address, int64_t now, Fetched* out) noexcept nogil:
        self.last_page = address >> self.tlb_shift
        if lookup(self.tlb1, address | self.thread):
            return now
        record(event_log, Occurrence.ITLB1_MISS, 1)
        if self.tlb2 is None:
            now = self.walk(event_log, address, now, out)
        elif lookup(self.tlb2, address | self.thread):
            now += self.transfer_cycles
            out.level = TlbLevel.TLB_L2
        else:
            record(event_log, Occurrence.ITLB2_MISS, 1)
            now = self.walk(event_log, address, now, out)
            insert(self.tlb2, address | self.thread)
        self.insert_first(event_log, address)
        return now

    cdef int64_t translate_tagged(self, EventLog* event_log, uint64_t address, int64_t now, Fetched* out) noexcept nogil:
        """Physical fetches have entries of the first level, too, as L1I's lines belong to one; they miss nothing."""
        self.last_page = address >> self.tlb_shift
        if lookup(self.tlb1, address | self.thread):
            return now
        if self.walks:
            self.walks = False
            out.level = TlbLevel.TLB_WALKER
            now = self.follow_walk(event_log, &self.walk_due, now)
        elif self.thread and self.tlb2 is not None:
            record(event_log, Occurrence.ITLB1_MISS, 1)
            now += self.transfer_cycles
            out.level = TlbLevel.TLB_L2
        self.insert_first(event_log, address)
        return now

    cdef int64_t follow_walk(self, EventLog* event_log, const Walk* walk, int64_t now) noexcept nogil:
        record(event_log, Occurrence.ITLB1_MISS, 1)
        if self.tlb2 is not None:
            record(event_log, Occurrence.ITLB2_MISS, 1)
        if walk.entry:
            record(event_log, Occurrence.HPW_READ, 1)
            now = self.l2.request(event_log, walk.entry & PHYSICAL_BITS, 8, REQUEST_WALK, 0, now) + self.walk_cycles
        if walk.outcome == WALK_INSERTED:
            record(event_log, Occurrence.ITLB_WALKED, 1)
        return now

    cdef void begin_block(self, uint64_t address, uint64_t alias) noexcept nogil:
        cdef int64_t entry
        if self.thread != alias:
            self.thread = alias
            self.last_page = NO_PAGE
        if self.walks:           # the page has no translation
            self.last_page = NO_PAGE
            entry = quick_find(self.tlb1.tags, address | self.thread)
            if entry != ABSENT:
                self.tlb1.tags.clear(entry)

    cdef void purge(self, EventLog* event_log) noexcept nogil:
        cdef uint64_t entry
        cdef uint32_t purged = 0
        for entry in range(self.tlb1.tags.sets << self.tlb1.tags.way_shift):
            if self.tlb1.tags.numbers[entry] != NO_NUMBER:
                self.purge_entry(entry)
                purged += 1
        if purged and self.prevalidated:
            record(event_log, Occurrence.L1I_PURGED, purged)

    cdef void purge_pages(self, EventLog* event_log, const Purge* purge) noexcept nogil:
        cdef uint64_t entry
        cdef uint32_t purged = 0
        for entry in range(self.tlb1.tags.sets << self.tlb1.tags.way_shift):
            if self.entry_is_purged(entry, purge):
                self.purge_entry(entry)
                purged += 1
        if purged and self.prevalidated:
            record(event_log, Occurrence.L1I_PURGED, purged)

    cdef bint entry_is_purged(self, uint64_t entry, const Purge* purge) noexcept nogil:
        cdef uint64_t number = self.tlb1.tags.numbers[entry], i
        cdef uint32_t frames = self.tlb_shift - FRAME_SHIFT
        if number == NO_NUMBER:
            return False
        for i in range(<uint64_t>1 << frames):
            if self.pages.covers_code(purge, (number << frames) + i):
                return True
        return False

    cdef void purge_entry(self, uint64_t entry) noexcept nogil:
        cdef uint64_t page = self.tlb1.tags.numbers[entry]
        if self.prevalidated:
            self.drop_page(page & ~(ALIAS_BITS >> self.tlb_shift))
        self.tlb1.tags.clear(entry)
        self.last_page = NO_PAGE

    # The page walker reads the VHPT through L2; on a miss there the operating system inserts the entry.
    cdef int64_t walk(self, EventLog* event_log, uint64_t address, int64_t now, Fetched* out) noexcept nogil:
        cdef uint64_t page = address >> self.page_shift
        cdef uint64_t vhpt_address = vhpt_entry(address, self.page_shift, self.entry_shift)
        record(event_log, Occurrence.HPW_READ, 1)
        now = self.l2.request(event_log, vhpt_address, 8, REQUEST_WALK, 0, now) + self.walk_cycles
        if self.table.has_page(page):
            record(event_log, Occurrence.ITLB_WALKED, 1)
            out.level = TlbLevel.TLB_WALKER
            return now
        record(event_log, Occurrence.ITLB_FILLED, 1)
        record(event_log, Occurrence.LEVEL_CHANGED, ROUND_TRIP)
        out.level = TlbLevel.TLB_FAULT
        self.table.add(page)
        out.kernel = self.software_cycles
        enter_level_0(&self.l2.user_clock, now, now + self.software_cycles)
        return now + self.software_cycles

    # Inserts an entry into the first-level TLB; lines of the evicted page are invalidated, unless it is the other
    # thread's entry for the same page: that is replaced, and the lines stay (Montecito manual 2.4.3.1.1).
    cdef void insert_first(self, EventLog* event_log, uint64_t address) noexcept nogil:
        cdef int64_t entry = ABSENT
        cdef uint64_t evicted
        if self.shared:
            entry = quick_find(self.tlb1.tags, (address | self.thread) ^ self.shared)
        if entry == ABSENT:
            entry = self.tlb1.tags.victim(address | self.thread)
            evicted = self.tlb1.tags.numbers[entry]
            if self.prevalidated and evicted != NO_NUMBER:
                record(event_log, Occurrence.L1I_PURGED, 1)
                self.drop_page(evicted & ~((self.shared | ALIAS_BITS) >> self.tlb_shift))
        self.tlb1.tags.put(entry, address | self.thread, 0, 0, 1)

    # Fetches a line that is not in L1I (`entry` is ABSENT), or not yet; returns its arrival; `out`: causes of the wait.
    cdef int64_t fetch_line(self, EventLog* event_log, uint64_t address, int64_t entry, int64_t now,
                       Fetched* out) noexcept nogil:
        cdef uint64_t line = address >> self.line_shift << self.line_shift
        cdef Buffered* found
        cdef int64_t ready
        if entry != ABSENT:
            record(event_log, Occurrence.L1I_RAB_HIT, 1)
            out.second_cause = FrontCause.FRONT_FILL_RECIRC
            out.asked, out.under_way = now, 1
            self.cache.touch(entry)
            return self.cache.infos[entry].ready
        found = find_buffered(&self.buffer, line)
        if found == NULL:
            record(event_log, Occurrence.L1I_DEMAND_MISS, 1)
            out.second_cause = FrontCause.FRONT_IMISS
            out.asked = now
            ready = self.request_line(event_log, line, REQUEST_FETCH, now)
            self.record_lines(event_log, 1)
        elif found.ready > now:
            record(event_log, Occurrence.L1I_RAB_HIT, 1)
            out.second_cause = FrontCause.FRONT_FILL_RECIRC
            out.asked, out.under_way = now, 1
            ready = found.ready
        else:
            record(event_log, Occurrence.L1I_ISB_HIT, 1)
            ready = now
        if found != NULL:
            leave_buffer(&self.buffer, found)
            if self.stream.active:
                self.stream.left += 1
                if self.stream.left == 1 and self.stream.since <= now:
                    self.stream.since = now + 1
        self.fill(event_log, line, ready)
        return ready

    # Requests a line from L2 (see record_lines); returns its arrival.
    cdef int64_t request_line(self, EventLog* event_log, uint64_t line, int kind, int64_t now) noexcept nogil:
        cdef int64_t at = first_free_cycle(&self.requests, now), ready
        cdef uint64_t part
        ready = self.l2.request(event_log, line, self.line, kind, 0, at)
        enter_queue(&self.requests, at, ready)
        part = line & ~<uint64_t>(self.brought - 1)
        while part < (line & ~<uint64_t>(self.brought - 1)) + self.brought:
            if part != line and not self.present(part):
                keep_line(self, part, ready, at)
            part += self.line
        return ready

    cdef void record_lines(self, EventLog* event_log, uint32_t asked) noexcept nogil:
        record(event_log, Occurrence.ISB_LINE_IN, asked)
        record(event_log, Occurrence.ISB_PAIR_IN, asked * (self.brought // WINDOW))

    cdef void fill(self, EventLog* event_log, uint64_t address, int64_t ready) noexcept nogil:
        cdef int64_t entry = self.cache.victim(address)
        cdef uint64_t evicted = self.cache.numbers[entry]
        record(event_log, Occurrence.L1I_FILL, 1)
        if evicted != NO_NUMBER:
            self.lines_of(evicted << self.line_shift)[0] -= 1
            if self.predictor is not None:
                self.predictor.on_line_evicted(evicted << self.line_shift, self.line)
            remove_line(self.groups, evicted)
        self.lines_of(address)[0] += 1
        self.cache.put(entry, address, SHARED, ready, 1)
        line_arrives(self.groups, address >> self.line_shift)

    # Invalidates a line in L1I and the streaming buffer.
    cdef void drop(self, uint64_t address) noexcept nogil:
        cdef int64_t entry = quick_find(self.cache, address)
        cdef Buffered* found = find_buffered(&self.buffer, address >> self.line_shift << self.line_shift)
        if entry != ABSENT:
            self.lines_of(address)[0] -= 1
            self.cache.clear(entry)
            if self.predictor is not None:
                self.predictor.on_line_evicted(address >> self.line_shift << self.line_shift, self.line)
        if found != NULL:
            leave_buffer(&self.buffer, found)
        remove_line(self.groups, address >> self.line_shift)
        if self.recent[address >> self.line_shift & self.recent_mask].line == address >> self.line_shift:
            self.recent[address >> self.line_shift & self.recent_mask].line = NO_LINE

    # Invalidates the lines of a page, usually few, in L1I and the streaming buffer.
    cdef void drop_page(self, uint64_t page) noexcept nogil:
        cdef uint64_t line = page << self.tlb_shift
        cdef uint32_t left = self.lines_of(line)[0], i
        cdef bint buffered = False
        for i in range(self.buffer.size):
            buffered |= self.buffer.lines[i].line >> self.tlb_shift == page
        while (left or buffered) and line >> self.tlb_shift == page:
            if left and self.cache.search(line >> self.line_shift) != ABSENT:
                self.drop(line)
                left -= 1
            elif buffered:
                self.drop(line)
            line += self.line

    # Returns the number of lines in L1I of the address' page, and of others of its class.
    cdef inline uint16_t* lines_of(self, uint64_t address) noexcept nogil:
        return &self.page_lines[address >> self.tlb_shift & (PAGE_CLASSES - 1)]

    # Returns the group of a line, by its number, with up-to-date lines.
    cdef inline LineGroup* group_of(self, uint64_t number) noexcept nogil:
        cdef LineGroup* group = group_entry(self.groups, number)
        if group.number != number >> GROUP_SHIFT:
            self.find_lines(group, number >> GROUP_SHIFT)
        return group

    cdef void find_lines(self, LineGroup* group, uint64_t number) noexcept nogil:
        cdef uint64_t first = number << GROUP_SHIFT, one, line
        group.number, group.lines = number, 0
        for one in range(first, first + GROUP_LINES):
            line = one << self.line_shift
            if (self.lines_of(line)[0] and quick_find(self.cache, line) != ABSENT) \
                    or find_buffered(&self.buffer, line) != NULL:
                group.lines |= line_bit(one)

    cdef bint present(self, uint64_t line) noexcept nogil:
        return self.group_of(line >> self.line_shift).lines & line_bit(line >> self.line_shift) != 0

    cdef void record_flush(self, EventLog* event_log) noexcept nogil:
        record(event_log, Occurrence.L1I_SNOOPED, 1)

    cdef int64_t final_cycle(self, int64_t now) noexcept nogil:
        return self.stream.since if self.stream.left and self.stream.since < now else now

    cdef void account_levels(self, EventSetAccounting shares) noexcept nogil:
        """Accounts these levels by event set."""
        account_queue(shares, &self.requests)

    cdef bint lost(self) noexcept nogil:
        """Whether a queue had too many entries."""
        return self.requests.lost or self.hints.lost

    cdef void finish(self, int64_t now) noexcept nogil:
        finish_queue(&self.requests, now)
        finish_queue(&self.hints, now)

    # For tests and tools.

    def fetch_at(self, address: int, now: int) -> tuple[int, dict[str, int], dict[str, int]]:
        """Fetches one window: cycle of its arrival, cycles by front-end cause, occurrences."""
        cdef EventLog event_log
        cdef Fetched out
        event_log.count, event_log.context = 0, 0
        self.fetch(&event_log, address, now, &out)
        waits = {}
        if out.ready - out.second_cycles > now:
            waits[FrontCause(out.cause).name] = out.ready - out.second_cycles - now
        if out.second_cycles:
            waits[FrontCause(out.second_cause).name] = out.second_cycles
        return out.ready, waits, totals(&event_log)

    def quick_at(self, address: int, now: int) -> bool:
        """Calls quick() for a window."""
        return self.quick(address, now)

    def redirect_at(self, target: int, many: bool, now: int) -> dict[str, int]:
        """Takes a branch: occurrences."""
        cdef EventLog event_log
        event_log.count, event_log.context = 0, 0
        redirect(self, &event_log, target, many, now)
        return totals(&event_log)

    def hint_at(self, target: int, now: int) -> dict[str, int]:
        """brp: occurrences."""
        cdef EventLog event_log
        event_log.count, event_log.context = 0, 0
        hint(self, &event_log, target, now)
        return totals(&event_log)

    def finish_at(self, now: int) -> None:
        """Calls finish()."""
        self.finish(now)

    def repeat(self, address: int, size: int, times: int) -> int:
        """Fetches windows of ``size`` bytes of code that hit in quick(), repeatedly (for measurements of speed)."""
        cdef uint64_t at = address, i, start = address, end = address + size, count = times
        cdef uint64_t agreed = 0
        with nogil:
            for i in range(count):
                agreed += self.quick(at, <int64_t>1 << 40)
                at = at + WINDOW if at + WINDOW < end else start
        return agreed

    def stores(self) -> dict[str, TagStore]:
        """Its tags: "l1i", "itlb1", and "itlb2" if there is one."""
        found = {"l1i": self.cache, "itlb1": self.tlb1.tags}
        if self.tlb2 is not None:
            found["itlb2"] = self.tlb2.tags
        return found

    def buffer_lines(self) -> dict[int, int]:
        """Lines in the streaming buffer and in flight to it -> the cycle of their arrival."""
        return {self.buffer.lines[i].line: self.buffer.lines[i].ready for i in range(self.buffer.size)
                if self.buffer.lines[i].line != NO_LINE}

    def levels(self) -> dict[str, list[int]]:
        """Cycles in which the request address buffer was not and was full, or had one free entry at most."""
        cycles = queue_levels(&self.requests)
        full = cycles.pop()
        almost = cycles.pop() if cycles else 0
        others = sum(cycles)
        return {"RAB_FULL": [others + almost, full], "RAB_ALMOST_FULL": [others, almost + full]}


cdef dict totals(const EventLog* event_log):
    """Converts recorded events to occurrence -> times."""
    found: dict[str, int] = {}
    for occurrence, times in recorded(event_log):
        name = Occurrence(occurrence).name
        found[name] = found.get(name, 0) + times
    return found
