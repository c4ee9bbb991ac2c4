"""Accounting of time by event set; see event_set_accounting.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef enum:
    MAX_ACCOUNTED_LEVELS = 32    # 17 are used: two of the register stack, the queues of each `listener`

cdef struct AccountedLevel:      # a level, and its queue, if it counts a queue's entries
    OccupancyLevel* level
    const Queue* queue
    uint32_t size                # number of its possible values
    int64_t since                # the level's, when it was last attributed
    uint32_t value
    int64_t border               # cycle up to which it was attributed
    int64_t user_border          # ... by the clock of user level
    uint64_t counted_cycles[MAX_LEVEL + 1]    # its histogram up to there
    uint64_t kept[MAX_LEVEL + 1]    # its own histogram, while `cycles` has that of some event sets

@cython.final
cdef class EventSetAccounting:
    cdef AccountedLevel accounted[MAX_ACCOUNTED_LEVELS]
    cdef uint32_t count
    cdef uint32_t event_sets
    cdef bint no_levels          # levels are not requested
    cdef uint64_t* levels        # event set, watched, value -> cycles
    cdef uint64_t* cycles        # by event set: of the core
    cdef uint64_t* bus_cycles
    cdef uint64_t* user_bus_cycles   # ... of user level
    cdef int64_t now             # cycle up to which these were attributed
    cdef uint64_t bus_now, user_bus_now
    cdef const UserClock* clock  # the core's
    cdef uint64_t bus_rate, core_rate   # cycles of the bus in so many of the core

    cdef void account(self, OccupancyLevel* level, const Queue* queue, uint32_t size) noexcept nogil
    # Replaces a watched queue by one of two cores, which counts all cycles. Before anything is attributed.
    cdef void replace_queue(self, const Queue* queue, Queue* other) noexcept nogil
    # Attributes the time since the last call to ``event_set``. It is cycle ``now``; later calls are never for cycles
    # before ``border``.
    cdef void share(self, uint32_t event_set, int64_t now, int64_t border) noexcept nogil
    # Attributes the time since the last call to no event set: another hardware thread had the core until cycle ``now``.
    cdef void skip_time(self, int64_t now) noexcept nogil
    cdef uint64_t bus_cycle(self, int64_t now) noexcept nogil
    cdef void share_level(self, AccountedLevel* one, uint64_t* cycles, int64_t border) noexcept nogil
    cdef uint64_t level_cycles(self, uint32_t level, uint32_t value, const unsigned char* chosen) noexcept nogil
    cdef void select_event_sets(self, event_sets)
    cdef void restore_levels(self)
    cdef object cycles_of(self, event_sets)
    cdef object kernel_bus_cycles_of(self, event_sets)


cdef inline void account_queue(EventSetAccounting shares, Queue* queue) noexcept nogil:
    """Watches the entries of a queue."""
    shares.account(&queue.level, queue, queue.capacity + 1)
