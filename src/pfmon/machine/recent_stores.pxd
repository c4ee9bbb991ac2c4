"""The stores of the last cycles: a load of their bytes that comes too soon cannot be served by L1D."""

from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef enum:
    RECENT_STORES = 256          # a power of two
    GRANULE_SHIFT = 3            # stores are told apart by eight bytes
    LONG_AGO = 1024              # cycles

cdef struct RecentStore:
    uint64_t granule
    int64_t cycle

cdef struct RecentStores:
    int64_t window               # cycles behind a store that are too soon
    int64_t latest               # no store is later
    RecentStore entries[RECENT_STORES]


cdef inline void start_recent_stores(RecentStores* recent, int64_t window) noexcept nogil:
    cdef uint32_t slot
    recent.window = window
    recent.latest = -LONG_AGO
    for slot in range(RECENT_STORES):
        recent.entries[slot].cycle = -LONG_AGO


cdef inline bint stored(const RecentStores* recent, uint64_t granule, int64_t since) noexcept nogil:
    """Whether a store of these eight bytes is remembered that was made in cycle ``since`` or later."""
    return (recent.entries[granule & RECENT_STORES - 1].granule == granule
            and recent.entries[granule & RECENT_STORES - 1].cycle >= since)


cdef inline bint conflicts(const RecentStores* recent, uint64_t address, uint32_t size, int64_t now) noexcept nogil:
    """Whether a store of the same eight bytes is too near."""
    cdef int64_t since = now - recent.window
    cdef uint64_t granule = address >> GRANULE_SHIFT
    if recent.latest < since:
        return 0
    if stored(recent, granule, since):
        return 1
    return address + size - 1 >> GRANULE_SHIFT != granule and stored(recent, granule + 1, since)


cdef inline void remember_part(RecentStores* recent, uint64_t granule, int64_t now) noexcept nogil:
    cdef RecentStore* entry = &recent.entries[granule & RECENT_STORES - 1]
    entry.granule = granule
    entry.cycle = now


cdef inline void remember_store(
    RecentStores* recent, uint64_t address, uint32_t size, int64_t now
) noexcept nogil:
    """A store was made."""
    cdef uint64_t granule = address >> GRANULE_SHIFT
    remember_part(recent, granule, now)
    if address + size - 1 >> GRANULE_SHIFT != granule:
        remember_part(recent, granule + 1, now)
    if now > recent.latest:
        recent.latest = now
