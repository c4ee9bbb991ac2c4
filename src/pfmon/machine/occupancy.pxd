"""Levels: values that last for some time (entries in a queue, registers in use), as a histogram over cycles."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:
    MAX_LEVEL = 127

cdef struct OccupancyLevel:
    int64_t since                # cycle from which `value` holds
    uint32_t value
    bint lost                    # sticky: a value beyond MAX_LEVEL was set
    uint64_t cycles[MAX_LEVEL + 1]


cdef inline void set_entries(OccupancyLevel* level, int64_t now, uint32_t value) noexcept nogil:
    """`set_level` of a value that cannot be too large: a queue has no more entries than MAX_LEVEL."""
    if now > level.since:
        level.cycles[level.value] += <uint64_t>(now - level.since)
        level.since = now
    level.value = value


cdef inline void set_level(OccupancyLevel* level, int64_t now, uint32_t value) noexcept nogil:
    """Sets ``value`` from cycle ``now`` on; times must not decrease (an earlier one counts as the latest)."""
    if value > MAX_LEVEL:
        level.lost = 1
        value = MAX_LEVEL
    set_entries(level, now, value)
