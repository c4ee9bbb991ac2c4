"""Queues of limited capacity: entries leave at known cycles; when the queue is full, the next entry waits."""

from libc.stdint cimport int64_t, uint32_t


cdef enum:
    MAX_QUEUE_ENTRIES = 64       # the largest queue of figures.csv

cdef struct Queue:
    uint32_t capacity            # 1 .. MAX_QUEUE_ENTRIES
    uint32_t count
    bint lost                    # sticky: no room for an entry
    int64_t leaves[MAX_QUEUE_ENTRIES] # ascending
    OccupancyLevel level         # entries, over cycles


cdef inline void release_entries(Queue* queue, int64_t now) noexcept nogil:
    """Removes the entries that leave up to cycle ``now``."""
    cdef uint32_t expired, i
    if queue.count == 0 or queue.leaves[0] > now:
        return
    expired = 0
    while expired < queue.count and queue.leaves[expired] <= now:
        expired += 1
        set_entries(&queue.level, queue.leaves[expired - 1], queue.count - expired)
    queue.count -= expired
    for i in range(queue.count):
        queue.leaves[i] = queue.leaves[i + expired]


cdef inline int64_t first_free_cycle(Queue* queue, int64_t now) noexcept nogil:
    """Returns the first cycle from ``now`` on in which there is room for an entry."""
    release_entries(queue, now)
    if queue.count < queue.capacity:
        return now
    return queue.leaves[queue.count - queue.capacity]


cdef inline void enter_queue(Queue* queue, int64_t now, int64_t leaves) noexcept nogil:
    """Adds an entry from ``now`` (as returned by `first_free_cycle`) to ``leaves``."""
    cdef uint32_t i
    release_entries(queue, now)
    if queue.count == MAX_QUEUE_ENTRIES:
        queue.lost = 1
        return
    i = queue.count
    while i > 0 and queue.leaves[i - 1] > leaves:
        queue.leaves[i] = queue.leaves[i - 1]
        i -= 1
    queue.leaves[i] = leaves
    queue.count += 1
    set_entries(&queue.level, now, queue.count)


cdef inline void start_queue(Queue* queue, uint32_t capacity) noexcept nogil:
    """Initializes an empty queue in zeroed memory. figures.csv limits queues to MAX_QUEUE_ENTRIES; callers of
    `enter_queue` call `first_free_cycle` first."""
    queue.capacity = capacity if capacity < MAX_QUEUE_ENTRIES else MAX_QUEUE_ENTRIES
    queue.lost = capacity > MAX_QUEUE_ENTRIES


cdef inline void finish_queue(Queue* queue, int64_t now) noexcept nogil:
    """Completes the histogram up to ``now``."""
    release_entries(queue, now)
    finish_entries(&queue.level, now)


cdef inline list queue_levels(const Queue* queue):
    """Cycles with 0, 1, ... entries."""
    return [queue.level.cycles[entries] for entries in range(queue.capacity + 1)]
