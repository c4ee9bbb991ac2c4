"""The machine's records: the instructions issued together in a cycle, and the causes of lost cycles, with counts.

A cycle in which instructions issue ends with a Part: instructions of one block, which of them executed, their events,
and the instructions issued before them in the same cycle (another Part). Equal cycles are one record with a count, so
that every possible increment per cycle, thresholds included, can be computed afterwards. Their number depends on the
program, not on the length of the run.

Counts are kept by event set (`Records.use` sets the one in force).
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp, memcpy, memset


cdef enum:
    INITIAL_RECORDS = 1 << 12


cdef inline bint is_cycle(const Part* part) noexcept nogil:
    """Whether something issued: a part without instructions only carries events."""
    return (part.code >> 32 & 0xFF) <= (part.code >> 40 & 0xFF)


cdef inline uint64_t part_hash(const Part* part) noexcept nogil:
    return mix(mix(mix(0x51ED270B, part.code), part.executed_dispersal), part.chain)


cdef int grow_table(uint32_t** table, uint32_t* size) noexcept nogil:
    """Makes a bigger, empty table; 0 when there is no memory."""
    cdef uint32_t bigger = size[0] * 2 if size[0] else INITIAL_RECORDS
    cdef uint32_t* fresh = <uint32_t*>calloc(bigger, sizeof(uint32_t))
    if fresh == NULL:
        return 0
    free(table[0])
    table[0] = fresh
    size[0] = bigger
    return 1


cdef int grow_array(void** array, uint64_t bytes_used, uint64_t bytes_wanted) noexcept nogil:
    """Reserves more room, zeroed; 0 when there is no memory."""
    cdef void* fresh = realloc(array[0], bytes_wanted)
    if fresh == NULL:
        return 0
    memset(<char*>fresh + bytes_used, 0, bytes_wanted - bytes_used)
    array[0] = fresh
    return 1


cdef class Totals:
    """Counts of some event sets, added up; a copy, as the records may grow while they are read."""

    def __dealloc__(self):
        free(self.counts)


cdef class Records:
    """Part 0 and event list 0 are the empty ones. ``event_sets``: their number."""

    def __cinit__(self, uint32_t event_sets=1):
        cdef Part nothing
        self.parts_of = <uint64_t**>calloc(event_sets, sizeof(uint64_t*))
        self.bubbles_of = <uint64_t**>calloc(event_sets, sizeof(uint64_t*))
        if self.parts_of == NULL or self.bubbles_of == NULL:
            raise MemoryError
        self.event_sets = event_sets
        self.max_records = BUBBLE_FLAG - 1       # so that the log can distinguish parts from bubbles
        memset(&nothing, 0, sizeof(nothing))
        if not self.room_for_part() or not self.room_for_bubble() or not self.room_for_events(0):
            raise MemoryError
        self.part_count = 1
        self.event_count = 1

    def __dealloc__(self):
        cdef uint32_t event_set
        for event_set in range(self.event_sets):
            free(self.parts_of[event_set])
            free(self.bubbles_of[event_set])
        free(self.parts_of)
        free(self.bubbles_of)
        free(self.parts)
        free(self.part_table)
        free(self.bubble_keys)
        free(self.bubble_table)
        free(self.event_lists)
        free(self.event_starts)
        free(self.event_table)
        free(self.log)

    cdef void use(self, uint32_t event_set) noexcept nogil:
        """Switches counting to this event set."""
        if self.parts_of[event_set] == NULL:     # the first time
            self.parts_of[event_set] = <uint64_t*>calloc(self.part_capacity + 1, sizeof(uint64_t))
            self.bubbles_of[event_set] = <uint64_t*>calloc(self.bubble_capacity + 1, sizeof(uint64_t))
            if self.parts_of[event_set] == NULL or self.bubbles_of[event_set] == NULL:
                self.lost = True
                return
        self.event_set = event_set
        self.part_counts = self.parts_of[event_set]
        self.bubble_counts = self.bubbles_of[event_set]

    # --- parts

    cdef int room_for_part(self) noexcept nogil:
        cdef uint32_t i, at, capacity, event_set
        if self.part_count == self.part_capacity:
            capacity = self.part_capacity * 2 if self.part_capacity else INITIAL_RECORDS
            if not grow_array(<void**>&self.parts, self.part_capacity * sizeof(Part), capacity * sizeof(Part)):
                return 0
            for event_set in range(self.event_sets):
                if event_set and self.parts_of[event_set] == NULL:
                    continue
                if not grow_array(<void**>&self.parts_of[event_set], self.part_capacity * 8, capacity * 8):
                    return 0
                self.use(self.event_set)
            self.part_capacity = capacity
        if self.part_count * 2 >= self.part_table_size:
            if not grow_table(&self.part_table, &self.part_table_size):
                return 0
            for i in range(1, self.part_count):
                at = <uint32_t>part_hash(&self.parts[i]) & (self.part_table_size - 1)
                while self.part_table[at]:
                    at = (at + 1) & (self.part_table_size - 1)
                self.part_table[at] = i
        return 1

    cdef uint32_t part(self, uint64_t code, uint64_t executed, uint32_t dispersal, uint32_t before,
                       uint32_t event_log) noexcept nogil:
        """Returns the number of a part; NO_PART, and `lost`, when there is no memory."""
        cdef Part wanted
        cdef uint32_t at, number
        wanted.code = code
        wanted.executed_dispersal = executed | <uint64_t>dispersal << 32
        wanted.chain = before | <uint64_t>event_log << 32
        at = <uint32_t>part_hash(&wanted) & (self.part_table_size - 1)
        while self.part_table[at]:
            number = self.part_table[at]
            if self.parts[number].code == wanted.code \
                    and self.parts[number].executed_dispersal == wanted.executed_dispersal \
                    and self.parts[number].chain == wanted.chain:
                return number
            at = (at + 1) & (self.part_table_size - 1)
        if self.part_count == self.max_records or not self.room_for_part():
            self.lost = True
            return NO_PART
        number = self.part_count
        self.parts[number] = wanted
        self.part_count += 1
        at = <uint32_t>part_hash(&wanted) & (self.part_table_size - 1)
        while self.part_table[at]:
            at = (at + 1) & (self.part_table_size - 1)
        self.part_table[at] = number
        return number

    cdef void add_cycle(self, uint32_t part) noexcept nogil:
        """Counts a cycle that ended with this part."""
        self.part_counts[part] += 1
        if self.logging:
            self.write_log(part, 1)

    # --- lists of events

    cdef int room_for_events(self, uint32_t more) noexcept nogil:
        cdef uint32_t i, at, capacity
        cdef uint64_t words
        if self.event_count == self.event_list_capacity:
            capacity = self.event_list_capacity * 2 if self.event_list_capacity else INITIAL_RECORDS
            if not grow_array(<void**>&self.event_starts, self.event_list_capacity * 8, capacity * 8):
                return 0
            self.event_list_capacity = capacity
        if self.event_used + more + 1 > self.event_capacity:
            words = (self.event_capacity + more + INITIAL_RECORDS) * 2
            if not grow_array(<void**>&self.event_lists, self.event_capacity * 8, words * 8):
                return 0
            self.event_capacity = words
        if self.event_count * 2 >= self.event_table_size:
            if not grow_table(&self.event_table, &self.event_table_size):
                return 0
            for i in range(1, self.event_count):
                at = self.event_place(self.event_lists + self.event_starts[i] + 1,
                                     <uint32_t>self.event_lists[self.event_starts[i]])
                self.event_table[at] = i
        return 1

    cdef uint32_t event_place(self, const uint64_t* items, uint32_t count) noexcept nogil:
        """Finds a list in the table: returns its slot, or the free slot for it."""
        cdef uint64_t hash = count
        cdef uint32_t i, at, number
        for i in range(count):
            hash = mix(hash, items[i])
        at = <uint32_t>hash & (self.event_table_size - 1)
        while self.event_table[at]:
            number = self.event_table[at]
            if self.event_lists[self.event_starts[number]] == count and \
                    memcmp(self.event_lists + self.event_starts[number] + 1, items, count * 8) == 0:
                return at
            at = (at + 1) & (self.event_table_size - 1)
        return at

    cdef uint32_t event_list(self, EventLog* event_log) noexcept nogil:
        """Returns the number of the list of the logged events, and clears the event log."""
        cdef uint32_t count = event_log.count, at
        if count == 0:
            return 0
        event_log.count = 0
        at = self.event_place(event_log.items, count)
        if self.event_table[at]:
            return self.event_table[at]
        if self.event_count == self.max_records or not self.room_for_events(count):
            self.lost = True
            return 0
        at = self.event_place(event_log.items, count)
        self.event_starts[self.event_count] = self.event_used
        self.event_lists[self.event_used] = count
        memcpy(self.event_lists + self.event_used + 1, event_log.items, count * 8)
        self.event_used += count + 1
        self.event_table[at] = self.event_count
        self.event_count += 1
        return self.event_count - 1

    # --- bubbles

    cdef int room_for_bubble(self) noexcept nogil:
        cdef uint32_t i, at, capacity, event_set
        if self.bubble_count == self.bubble_capacity:
            capacity = self.bubble_capacity * 2 if self.bubble_capacity else INITIAL_RECORDS
            if not grow_array(<void**>&self.bubble_keys, self.bubble_capacity * 8, capacity * 8):
                return 0
            for event_set in range(self.event_sets):
                if event_set and self.bubbles_of[event_set] == NULL:
                    continue
                if not grow_array(<void**>&self.bubbles_of[event_set], self.bubble_capacity * 8, capacity * 8):
                    return 0
                self.use(self.event_set)
            self.bubble_capacity = capacity
        if self.bubble_count * 2 >= self.bubble_table_size:
            if not grow_table(&self.bubble_table, &self.bubble_table_size):
                return 0
            for i in range(self.bubble_count):
                at = <uint32_t>mix(1, self.bubble_keys[i]) & (self.bubble_table_size - 1)
                while self.bubble_table[at]:
                    at = (at + 1) & (self.bubble_table_size - 1)
                self.bubble_table[at] = i + 1
        return 1

    cdef uint32_t bubble(self, uint64_t block, uint32_t instruction, uint32_t kind, uint32_t cause) noexcept nogil:
        """Returns the number of the bubbles of this kind and cause before an instruction."""
        cdef uint64_t key = block | <uint64_t>instruction << 32 | <uint64_t>cause << 40 | <uint64_t>kind << 48
        cdef uint32_t at = <uint32_t>mix(1, key) & (self.bubble_table_size - 1)
        while self.bubble_table[at]:
            if self.bubble_keys[self.bubble_table[at] - 1] == key:
                return self.bubble_table[at] - 1
            at = (at + 1) & (self.bubble_table_size - 1)
        if self.bubble_count == self.max_records or not self.room_for_bubble():
            self.lost = True
            return 0
        at = <uint32_t>mix(1, key) & (self.bubble_table_size - 1)
        while self.bubble_table[at]:
            at = (at + 1) & (self.bubble_table_size - 1)
        self.bubble_keys[self.bubble_count] = key
        self.bubble_count += 1
        self.bubble_table[at] = self.bubble_count
        return self.bubble_count - 1

    cdef void add_bubbles(self, uint64_t block, uint32_t instruction, uint32_t kind, uint32_t cause,
                          uint64_t cycles) noexcept nogil:
        cdef uint32_t number
        if cycles == 0:
            return
        number = self.bubble(block, instruction, kind, cause)
        self.bubble_counts[number] += cycles
        if self.logging:
            self.write_log(BUBBLE_FLAG | number, cycles)

    # --- the log, from which the memo repeats a block

    cdef void begin_log(self) noexcept nogil:
        self.log_count = 0
        self.logging = True

    cdef void write_log(self, uint32_t what, uint64_t times) noexcept nogil:
        cdef uint32_t* fresh
        if self.log_count + 2 > self.log_capacity:
            fresh = <uint32_t*>realloc(self.log, (self.log_capacity + 512) * 2 * sizeof(uint32_t))
            if fresh == NULL:
                self.lost = True
                return
            self.log = fresh
            self.log_capacity = (self.log_capacity + 512) * 2
        self.log[self.log_count] = what
        self.log[self.log_count + 1] = <uint32_t>times
        self.log_count += 2

    cdef void replay(self, const uint32_t* log, uint32_t count, uint64_t times) noexcept nogil:
        """Counts a log's records ``times`` more times."""
        cdef uint32_t i = 0
        while i < count:
            if log[i] & BUBBLE_FLAG:
                self.bubble_counts[log[i] & ~<uint32_t>BUBBLE_FLAG] += times * log[i + 1]
            else:
                self.part_counts[log[i]] += times * log[i + 1]
            i += 2

    # --- interface for Python; ``event_sets``: those included, None: all

    cdef Totals part_totals(self, event_sets):
        """Cycles by part, in some event sets; None: in all."""
        cdef Totals found = Totals()
        cdef uint32_t i, event_set
        found.counts = <uint64_t*>calloc(self.part_capacity, sizeof(uint64_t))
        if found.counts == NULL:
            raise MemoryError
        for event_set in range(self.event_sets) if event_sets is None else event_sets:
            for i in range(self.part_count if self.parts_of[event_set] != NULL else 0):
                found.counts[i] += self.parts_of[event_set][i]
        return found

    cdef Totals bubble_totals(self, event_sets):
        """Bubbles by number, in some event sets; None: in all."""
        cdef Totals found = Totals()
        cdef uint32_t i, event_set
        found.counts = <uint64_t*>calloc(self.bubble_capacity, sizeof(uint64_t))
        if found.counts == NULL:
            raise MemoryError
        for event_set in range(self.event_sets) if event_sets is None else event_sets:
            for i in range(self.bubble_count if self.bubbles_of[event_set] != NULL else 0):
                found.counts[i] += self.bubbles_of[event_set][i]
        return found

    def cycles_with_issue(self, event_sets=None) -> int:
        """Cycles in which something issued."""
        cdef Totals totals = self.part_totals(event_sets)
        cdef uint32_t i
        cdef uint64_t total = 0
        for i in range(1, self.part_count):
            if is_cycle(&self.parts[i]):
                total += totals.counts[i]
        return total

    def bubbles(self, kind, event_sets=None):
        """(block or None, instruction, cause, cycles) of one kind."""
        cdef uint32_t i, event_set
        cdef uint64_t key, cycles
        found = []
        event_sets = range(self.event_sets) if event_sets is None else event_sets
        event_sets = [event_set for event_set in event_sets if self.bubbles_of[event_set] != NULL]
        for i in range(self.bubble_count):
            key = self.bubble_keys[i]
            if <int>(key >> 48) != kind:
                continue
            cycles = 0
            for event_set in event_sets:
                cycles += self.bubbles_of[event_set][i]
            if cycles:
                block = key & 0xFFFFFFFF
                found.append((None if block == NO_BLOCK else block, key >> 32 & 0xFF, key >> 40 & 0xFF, cycles))
        return found

    cdef object events_of(self, uint32_t number):
        cdef uint64_t* items = self.event_lists + self.event_starts[number]
        cdef uint64_t i
        if number == 0:
            return ()
        return tuple([
            (items[i + 1] >> EVENT_INSTRUCTION_SHIFT & 0xFF, items[i + 1] & 0xFFFF,
             items[i + 1] >> EVENT_RANGED_SHIFT & 1,
             items[i + 1] >> OCCURRENCE_BITS & 0xFFFF)
            for i in range(items[0])
        ])

    cdef object part_tuple(self, uint32_t number):
        cdef Part* part = &self.parts[number]
        block = part.code & 0xFFFFFFFF
        return (None if block == NO_BLOCK else block, part.code >> 32 & 0xFF, part.code >> 40 & 0xFF,
                part.executed_dispersal & 0xFFFFFFFF, self.events_of(<uint32_t>(part.chain >> 32)))

    def groups(self, event_sets=None):
        """Issue groups with numbers of cycles: ((block, first, last, executed, occurrences), ...), count.

        ``executed`` has a bit for each instruction from ``first`` on that executed; ``event_log`` are (instruction,
        occurrence, in the data ranges, times). A part with ``first`` after ``last`` is no cycle: it carries events.
        """
        cdef Totals totals = self.part_totals(event_sets)
        cdef uint32_t i, at, count = self.part_count
        for i in range(count):
            if totals.counts[i]:
                chain = []
                at = i
                while at:
                    chain.append(self.part_tuple(at))
                    at = <uint32_t>(self.parts[at].chain & 0xFFFFFFFF)
                yield tuple(reversed(chain)), totals.counts[i]

    def occurrences(self, event_sets=None):
        """{(block or None, instruction, occurrence, in the data ranges): times}, over all cycles."""
        cdef Totals cycles = self.part_totals(event_sets), totals = self.part_totals(())
        cdef uint32_t i, at, event_log
        cdef uint64_t* items
        cdef uint64_t k, item
        found = {}
        for i in range(self.part_count):
            at = i
            while at and cycles.counts[i]:
                totals.counts[at] += cycles.counts[i]
                at = <uint32_t>(self.parts[at].chain & 0xFFFFFFFF)
        for i in range(self.part_count):
            event_log = <uint32_t>(self.parts[i].chain >> 32)
            if totals.counts[i] == 0 or event_log == 0:
                continue
            block = self.parts[i].code & 0xFFFFFFFF
            items = self.event_lists + self.event_starts[event_log]
            for k in range(1, items[0] + 1):
                item = items[k]
                key = (None if block == NO_BLOCK else block, item >> EVENT_INSTRUCTION_SHIFT & 0xFF, item & 0xFFFF,
                       item >> EVENT_RANGED_SHIFT & 1)
                found[key] = found.get(key, 0) + totals.counts[i] * (item >> OCCURRENCE_BITS & 0xFFFF)
        return found

    def dispersal(self, event_sets=None):
        """(block, last instruction, dispersal, cycles) of every cycle record: syllables not dispersed (records.pxd,
        Dispersal)."""
        cdef Totals totals = self.part_totals(event_sets)
        cdef uint32_t i, count = self.part_count
        for i in range(1, count):
            if totals.counts[i] and is_cycle(&self.parts[i]):
                dispersal = self.parts[i].executed_dispersal >> 32
                yield (self.parts[i].code & 0xFFFFFFFF, self.parts[i].code >> 40 & 0xFF, dispersal, totals.counts[i])

    def sizes(self):
        """Number of records: parts, bubbles, lists of events."""
        return self.part_count, self.bubble_count, self.event_count
