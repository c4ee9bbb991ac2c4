"""Levels: values that last for some time (entries in a queue, registers in use), as a histogram over cycles."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:
    MOST_LEVEL = 127

cdef struct Level:
    int64_t since                # cycle from which `value` holds
    uint32_t value
    bint lost                    # sticky: a value beyond MOST_LEVEL was set
    uint64_t cycles[MOST_LEVEL + 1]


cdef inline void set_entries(Level* level, int64_t now, uint32_t value) noexcept nogil:
    """`set_level` of a value that cannot be too large: a queue has no more entries than MOST_LEVEL."""
    if now > level.since:
        level.cycles[level.value] += <uint64_t>(now - level.since)
        level.since = now
    level.value = value


cdef inline void set_level(Level* level, int64_t now, uint32_t value) noexcept nogil:
    """Sets ``value`` from cycle ``now`` on; times must not decrease (an earlier one counts as the latest)."""
    if value > MOST_LEVEL:
        level.lost = 1
        value = MOST_LEVEL
    set_entries(level, now, value)
