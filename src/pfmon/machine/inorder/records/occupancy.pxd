"""Levels: values that last for some time (entries in a queue, registers in use), as a histogram over cycles of user
level: what PMC.plm lets through (Montecito manual 3.2.3.2). No level is counted at level 0, where no program runs."""

from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef enum:
    MAX_LEVEL = 127

cdef struct OccupancyLevel:
    int64_t since                # cycle from which `value` holds
    int64_t user_since           # ... by the clock of user level
    const UserClock* clock       # NULL: all cycles count
    uint32_t value
    uint32_t counted             # value of the latest cycles in the histogram
    bint lost                    # sticky: a value beyond MAX_LEVEL was set
    uint64_t cycles[MAX_LEVEL + 1]


cdef inline int64_t user_cycle_of(const OccupancyLevel* level, int64_t now) noexcept nogil:
    """Returns the cycles of user level before a cycle not before the level's latest change."""
    cdef int64_t user = user_cycle(level.clock, now)
    return user if user >= 0 else level.user_since + now - level.since


cdef inline void set_entries(OccupancyLevel* level, int64_t now, uint32_t value) noexcept nogil:
    """`set_level` of a value that is at most MAX_LEVEL, such as the entries of a queue. A store or prefetch may enter a
    queue in a later cycle, and the program may enter the operating system before that cycle: the
    cycles counted in excess are then left out of later ones."""
    cdef int64_t user
    if now > level.since:
        user = user_cycle_of(level, now)
        if user > level.user_since:
            level.cycles[level.value] += <uint64_t>(user - level.user_since)
            level.user_since, level.counted = user, level.value
        level.since = now
    level.value = value


cdef inline void remove_cycles(OccupancyLevel* level, int64_t excess) noexcept nogil:
    """Removes ``excess`` cycles from a histogram, or all that it has: those of the value counted latest first."""
    cdef uint32_t i, value = level.counted
    cdef int64_t part
    level.user_since -= excess
    for i in range(MAX_LEVEL + 1):
        part = min(excess, <int64_t>level.cycles[value])
        level.cycles[value] -= <uint64_t>part
        excess -= part
        value = (value + 1) & MAX_LEVEL


cdef inline void finish_entries(OccupancyLevel* level, int64_t now) noexcept nogil:
    """Completes the histogram up to cycle ``now``, without the cycles counted in excess (`set_entries`). A level that
    two hardware threads share is complete with the later of them: the other changes nothing."""
    cdef int64_t user
    set_entries(level, now, level.value)
    if now < level.since:
        return
    user = user_cycle_of(level, now)
    if user < level.user_since:
        remove_cycles(level, level.user_since - user)


cdef inline void set_level(OccupancyLevel* level, int64_t now, uint32_t value) noexcept nogil:
    """Sets ``value`` from cycle ``now`` on; times must not decrease (an earlier one counts as the latest)."""
    if value > MAX_LEVEL:
        level.lost = 1
        value = MAX_LEVEL
    set_entries(level, now, value)


cdef inline void resume_level(OccupancyLevel* level, int64_t now) noexcept nogil:
    """Leaves out the cycles since the latest change."""
    level.since, level.user_since = now, user_cycle(level.clock, now)
