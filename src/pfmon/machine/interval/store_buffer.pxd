"""The latest stores, by number and by address: a load finds the one that may forward its data.

A store is found by the number of the last store to each 4 bytes. All but the latest RECENT_STORES are in L1D.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    STORE_SLOTS = 512            # a power of two, with STORE_GRANULE less than a page
    STORE_GRANULE = 2            # log2 of the bytes of a slot
    RECENT_STORES = 256          # a power of two, more than the entries of a store buffer
    MAX_STORE_BYTES = 64         # longer ones are not forwarded

cdef struct RecentStore:
    uint64_t address, end
    int64_t ready                # tick in which its data can be forwarded; negative: less the access of the current block, less 1
    int64_t committed            # tick in which it is in L1D

cdef struct RecentStores:
    uint32_t count               # of stores so far: the number of the last one
    uint32_t timed               # ... of those before the current block
    uint32_t slot[STORE_SLOTS]   # number of the last store to these bytes
    RecentStore store[RECENT_STORES]


cdef inline const RecentStore* store_at(const RecentStores* stores, uint64_t address) noexcept nogil:
    """Returns the last store to the bytes of a slot, or the oldest one that is known."""
    cdef uint32_t number = stores.slot[(address >> STORE_GRANULE) & (STORE_SLOTS - 1)]
    if stores.count - number >= RECENT_STORES:
        number = stores.count + 1
    return &stores.store[number & (RECENT_STORES - 1)]


cdef inline void put_store(RecentStores* stores, uint64_t address, uint64_t size, uint32_t access) noexcept nogil:
    """Enters a store of the current block, by its access' number."""
    cdef uint64_t granule = address >> STORE_GRANULE, last = (address + size - 1) >> STORE_GRANULE
    cdef RecentStore* store
    if size > MAX_STORE_BYTES:
        return
    stores.count += 1
    store = &stores.store[stores.count & (RECENT_STORES - 1)]
    store.address, store.end = address, address + size
    store.ready, store.committed = -<int64_t>access - 1, <int64_t>1 << 62
    while granule <= last:
        stores.slot[granule & (STORE_SLOTS - 1)] = stores.count
        granule += 1


cdef inline void time_stores(RecentStores* stores, const StoreTimes* times) noexcept nogil:
    """Sets the times of the stores of the block that ran; ``times``: by access."""
    cdef RecentStore* store
    cdef const StoreTimes* time
    if stores.count - stores.timed > RECENT_STORES:
        stores.timed = stores.count - RECENT_STORES
    while stores.timed != stores.count:
        stores.timed += 1
        store = &stores.store[stores.timed & (RECENT_STORES - 1)]
        time = &times[-store.ready - 1]
        store.ready, store.committed = time.ready, time.committed
