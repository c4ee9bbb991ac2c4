"""Accounting by event set: cycles, and the histograms of levels over cycles of user level.

A level keeps one histogram. At a switch of event sets the histogram up to there is computed separately, and its growth
since the switch before is attributed to the event set. The levels and queues are not changed, so that the parts of all
event sets add up to the histogram of a single one.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset


cdef enum:
    CLOCK_EDGES = 2              # the bus moves data on both edges of its clock; bus.frequency counts transfers


cdef int64_t histogram_until(const AccountedLevel* one, int64_t border, uint64_t* cycles) noexcept nogil:
    """Computes the level's histogram up to a cycle, with the entries that will have left the queue by then; returns the
    user level's cycles in it."""
    cdef int64_t since = one.level.user_since, user
    cdef uint32_t value = one.level.value, i = 0
    memcpy(cycles, one.level.cycles, one.size * sizeof(uint64_t))
    if one.queue != NULL:
        while i < one.queue.count and one.queue.leaves[i] <= border:
            user = user_cycle_of(one.level, one.queue.leaves[i])
            if user > since:
                cycles[value] += <uint64_t>(user - since)
                since = user
            i += 1
            value = one.queue.count - i
    user = user_cycle_of(one.level, border)
    if user > since:
        cycles[value] += <uint64_t>(user - since)
        since = user
    return since


cdef object common_divisor(a, b):
    """Greatest common divisor (math.gcd: the module is not loaded for it)."""
    while b:
        a, b = b, a % b
    return a


cdef class EventSetAccounting:
    """``event_sets``: their number; ``config``: the frequencies."""

    def __cinit__(self, uint32_t event_sets, config):
        bus, core = int(config["bus.frequency"]), CLOCK_EDGES * int(config["machine.frequency"])
        divisor = common_divisor(bus, core)
        self.bus_rate, self.core_rate = bus // divisor, core // divisor
        self.event_sets = event_sets
        self.levels = <uint64_t*>calloc(event_sets * MAX_ACCOUNTED_LEVELS * (MAX_LEVEL + 1), sizeof(uint64_t))
        self.cycles = <uint64_t*>calloc(event_sets, sizeof(uint64_t))
        self.bus_cycles = <uint64_t*>calloc(event_sets, sizeof(uint64_t))
        self.user_bus_cycles = <uint64_t*>calloc(event_sets, sizeof(uint64_t))
        if self.levels == NULL or self.cycles == NULL or self.bus_cycles == NULL or self.user_bus_cycles == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.levels)
        free(self.cycles)
        free(self.bus_cycles)
        free(self.user_bus_cycles)

    cdef void account(self, OccupancyLevel* level, const Queue* queue, uint32_t size) noexcept nogil:
        cdef AccountedLevel* one = &self.accounted[self.count]
        one.level, one.queue, one.size = level, queue, size
        level.clock = self.clock
        self.count += 1

    cdef uint64_t bus_cycle(self, int64_t now) noexcept nogil:
        """Returns the bus clock in a cycle of the core."""
        return <uint64_t>now // self.core_rate * self.bus_rate \
            + <uint64_t>now % self.core_rate * self.bus_rate // self.core_rate

    cdef void skip_time(self, int64_t now) noexcept nogil:
        cdef uint32_t i
        cdef AccountedLevel* one
        self.now, self.bus_now = now, self.bus_cycle(now)
        self.user_bus_now = self.bus_cycle(user_cycle(self.clock, now))
        for i in range(0 if self.no_levels else self.count):
            one = &self.accounted[i]
            one.user_border = histogram_until(one, now, one.counted_cycles)
            one.since, one.value, one.border = one.level.since, one.level.value, now

    cdef void replace_queue(self, const Queue* queue, Queue* other) noexcept nogil:
        cdef uint32_t i
        for i in range(self.count):
            if self.accounted[i].queue == queue:
                self.accounted[i].queue, self.accounted[i].level = other, &other.level
                other.level.clock = NULL

    cdef void share(self, uint32_t event_set, int64_t now, int64_t border) noexcept nogil:
        cdef uint32_t i
        cdef uint64_t bus = self.bus_cycle(now), user_bus = self.bus_cycle(user_cycle(self.clock, now))
        self.cycles[event_set] += <uint64_t>(now - self.now)
        self.bus_cycles[event_set] += bus - self.bus_now
        self.user_bus_cycles[event_set] += user_bus - self.user_bus_now
        self.now, self.bus_now, self.user_bus_now = now, bus, user_bus
        for i in range(0 if self.no_levels else self.count):
            self.share_level(&self.accounted[i],
                             &self.levels[(event_set * MAX_ACCOUNTED_LEVELS + i) * (MAX_LEVEL + 1)], border)

    cdef void share_level(self, AccountedLevel* one, uint64_t* cycles, int64_t border) noexcept nogil:
        cdef uint64_t until[MAX_LEVEL + 1]
        cdef uint32_t value
        cdef int64_t user
        if border < one.border:
            border = one.border
        if one.level.since == one.since and one.level.value == one.value and one.since <= one.border and (
                one.queue == NULL or one.queue.count == 0 or one.queue.leaves[0] > border):
            user = user_cycle_of(one.level, border)
            if user > one.user_border:
                cycles[one.value] += <uint64_t>(user - one.user_border)
                one.counted_cycles[one.value] += <uint64_t>(user - one.user_border)
                one.user_border = user
            one.border = border
            return
        one.user_border = histogram_until(one, border, until)
        for value in range(one.size):
            cycles[value] += until[value] - one.counted_cycles[value]
        memcpy(one.counted_cycles, until, one.size * sizeof(uint64_t))
        one.since, one.value, one.border = one.level.since, one.level.value, border

    # --- interface for Python

    cdef uint64_t level_cycles(self, uint32_t level, uint32_t value, const unsigned char* chosen) noexcept nogil:
        """Returns the chosen event sets' cycles at one value of a level. The last cycles of an event set may have been
        counted in excess (`set_entries`): what another one then lacks is taken from the first that have some."""
        cdef int64_t* cycles = <int64_t*>&self.levels[level * (MAX_LEVEL + 1) + value]
        cdef Py_ssize_t of_next_set = MAX_ACCOUNTED_LEVELS * (MAX_LEVEL + 1)
        cdef int64_t excess = 0, taken, found = 0
        cdef uint32_t i
        for i in range(self.event_sets):
            excess -= min(cycles[i * of_next_set], 0)
        for i in range(self.event_sets):
            taken = min(excess, max(cycles[i * of_next_set], 0))
            excess -= taken
            if chosen[i]:
                found += max(cycles[i * of_next_set], 0) - taken
        return <uint64_t>found

    cdef void select_event_sets(self, event_sets):
        """Replaces the levels' histograms by those of some event sets, None: of all, until `restore_levels`."""
        cdef uint32_t i, value
        cdef AccountedLevel* one
        cdef bytearray chosen = bytearray(self.event_sets)
        for event_set in range(self.event_sets) if event_sets is None else event_sets:
            chosen[event_set] = 1
        for i in range(self.count):
            one = &self.accounted[i]
            memcpy(one.kept, one.level.cycles, sizeof(one.kept))
            memset(one.level.cycles, 0, sizeof(one.kept))
            for value in range(one.size):
                one.level.cycles[value] = self.level_cycles(i, value, <unsigned char*>chosen)

    cdef void restore_levels(self):
        """Restores the levels' own histograms."""
        cdef uint32_t i
        for i in range(self.count):
            memcpy(self.accounted[i].level.cycles, self.accounted[i].kept, sizeof(self.accounted[i].kept))

    cdef object cycles_of(self, event_sets):
        """Cycles of the core and of the bus in some event sets, None: in all."""
        places = range(self.event_sets) if event_sets is None else tuple(event_sets)
        return sum([self.cycles[place] for place in places]), sum([self.bus_cycles[place] for place in places])

    cdef object kernel_bus_cycles_of(self, event_sets):
        """Those of the bus in which the operating system ran: of both clocks the difference."""
        places = range(self.event_sets) if event_sets is None else tuple(event_sets)
        return sum([self.bus_cycles[place] - self.user_bus_cycles[place] for place in places])
