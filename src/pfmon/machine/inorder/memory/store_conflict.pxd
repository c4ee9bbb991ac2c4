"""The store-conflict window: a load of bytes written by a store a few cycles ago cannot be served by L1D."""

from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef enum:
    STORE_ENTRIES = 256          # a power of two
    GRANULE_SHIFT = 3            # stores are distinguished by eight bytes
    LONG_AGO = 1024              # cycles

cdef struct StoreEntry:
    uint64_t granule
    int64_t cycle

cdef struct StoreConflicts:
    int64_t window               # cycles after a store with a conflict
    int64_t latest               # cycle of the last store
    StoreEntry entries[STORE_ENTRIES]


cdef inline void start_store_conflicts(StoreConflicts* stores, int64_t window) noexcept nogil:
    cdef uint32_t entry
    stores.window = window
    stores.latest = -LONG_AGO
    for entry in range(STORE_ENTRIES):
        stores.entries[entry].cycle = -LONG_AGO


cdef inline bint stored(const StoreConflicts* stores, uint64_t granule, int64_t since) noexcept nogil:
    """Whether a store to these eight bytes is known from cycle ``since`` or later."""
    return (stores.entries[granule & STORE_ENTRIES - 1].granule == granule
            and stores.entries[granule & STORE_ENTRIES - 1].cycle >= since)


cdef inline bint conflicts(const StoreConflicts* stores, uint64_t address, uint32_t size, int64_t now) noexcept nogil:
    """Whether a store to the same eight bytes is within the window."""
    cdef int64_t since = now - stores.window
    cdef uint64_t granule = address >> GRANULE_SHIFT
    if stores.latest < since:
        return 0
    if stored(stores, granule, since):
        return 1
    return address + size - 1 >> GRANULE_SHIFT != granule and stored(stores, granule + 1, since)


cdef inline void enter_granule(StoreConflicts* stores, uint64_t granule, int64_t now) noexcept nogil:
    cdef StoreEntry* entry = &stores.entries[granule & STORE_ENTRIES - 1]
    entry.granule = granule
    entry.cycle = now


cdef inline void enter_store(
    StoreConflicts* stores, uint64_t address, uint32_t size, int64_t now
) noexcept nogil:
    """Enters a store."""
    cdef uint64_t granule = address >> GRANULE_SHIFT
    enter_granule(stores, granule, now)
    if address + size - 1 >> GRANULE_SHIFT != granule:
        enter_granule(stores, granule + 1, now)
    if now > stores.latest:
        stores.latest = now
