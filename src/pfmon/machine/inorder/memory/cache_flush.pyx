"""Flushes of whole caches by firmware (PAL_CACHE_FLUSH; volume 2, 11.10.3): their contents alone. Firmware's own time and
its transactions on the bus are not there.
"""

from libc.stdint cimport uint64_t


cdef void flush_tags(TagStore tags, bint invalidates) noexcept nogil:
    """All lines of a cache become invalid, or clean."""
    cdef uint64_t entry
    for entry in range(tags.sets << tags.way_shift):
        if tags.numbers[entry] == NO_NUMBER:
            continue
        if invalidates:
            tags.clear(entry)
        elif tags.infos[entry].state == MODIFIED:
            tags.infos[entry].state = EXCLUSIVE


cdef void drop_code(InstructionFetch fetch) noexcept nogil:
    """Invalidates all of L1I and the streaming buffer."""
    cdef uint64_t entry
    cdef uint32_t i
    for entry in range(fetch.cache.sets << fetch.cache.way_shift):
        if fetch.cache.numbers[entry] != NO_NUMBER:
            fetch.drop(fetch.cache.numbers[entry] << fetch.cache.shift)
    for i in range(fetch.buffer.size):
        fetch.drop(fetch.buffer.lines[i].line)


cdef void flush_caches(DataMemory data, InstructionFetch fetch, L2 l2, uint64_t value) noexcept nogil:
    cdef bint invalidates = value & FLUSH_INVALIDATES != 0
    cdef bint code = value & FLUSH_CODE != 0, data_too = value & FLUSH_DATA != 0
    cdef bint coherent = value & FLUSH_COHERENT != 0
    if coherent or (code and invalidates):
        drop_code(fetch)
        if l2.split:
            flush_tags(l2.code, True)
    if data_too or (code and not l2.split):
        flush_tags(l2.data, invalidates)
        flush_tags(data.cache, invalidates)      # which L2 includes
    if data_too or code:
        flush_tags(l2.l3.tags, invalidates)
