"""Stores that are not yet in L1D, by address: see store_buffer.pyx."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    STORE_SLOTS = 512            # a power of two, with STORE_GRANULE less than a page
    STORE_GRANULE = 2            # log2 of the bytes of a slot
    MAX_STORE_BYTES = 64         # longer ones are not forwarded

cdef struct StoreSlot:           # the last store to 4 bytes
    uint64_t address, end
    int64_t ready                # tick in which its data can be forwarded; negative: less the access of the current block, less 1
    int64_t committed            # tick in which it is in L1D


cdef inline StoreSlot* store_slot(StoreSlot* slots, uint64_t address) noexcept nogil:
    return &slots[(address >> STORE_GRANULE) & (STORE_SLOTS - 1)]


cdef inline void put_store(StoreSlot* slots, uint64_t address, uint64_t size, uint32_t number) noexcept nogil:
    """Enters a store of the current block, by its access' number."""
    cdef uint64_t granule = address >> STORE_GRANULE, last = (address + size - 1) >> STORE_GRANULE
    cdef StoreSlot* slot
    if size > MAX_STORE_BYTES:
        return
    while granule <= last:
        slot = &slots[granule & (STORE_SLOTS - 1)]
        slot.address, slot.end = address, address + size
        slot.ready, slot.committed = -<int64_t>number - 1, <int64_t>1 << 62
        granule += 1


cdef inline void time_store(StoreSlot* slots, uint64_t address, uint64_t size, uint32_t number, int64_t ready,
                            int64_t committed) noexcept nogil:
    """Sets the times of a store of the block that ran, where no later store replaced it."""
    cdef uint64_t granule = address >> STORE_GRANULE, last = (address + size - 1) >> STORE_GRANULE
    cdef StoreSlot* slot
    if size > MAX_STORE_BYTES:
        return
    while granule <= last:
        slot = &slots[granule & (STORE_SLOTS - 1)]
        if slot.ready == -<int64_t>number - 1:
            slot.ready, slot.committed = ready, committed
        granule += 1
