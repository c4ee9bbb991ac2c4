"""What says, along the stream, whether is counted: triggers and PSR.up (MODE marks)."""

from libc.stdint cimport uint64_t

cdef enum:
    TRIGGERS = 32
    GROUPS = 2
    STARTS = 1                           # what a trigger does; 0: nothing
    STOPS = 2
    UP = 1 << 2                          # of the user mask

cdef struct Switches:                    # all zeros: nothing counts
    bint on                              # as the triggers have it
    bint heeds_up                        # PSR.up matters
    bint up                              # PSR.up
    int action[TRIGGERS]
    int group[TRIGGERS]
    uint64_t hits[TRIGGERS]              # how often each trigger was reached, whether or not it changed anything
    bint repeats[GROUPS]
    bint spent[GROUPS][STOPS + 1]        # by action


cdef inline bint is_counting(const Switches* switches) noexcept nogil:
    return switches.on and (switches.up or not switches.heeds_up)


cdef inline bint reach_trigger(Switches* switches, uint64_t number) noexcept nogil:
    """Control has come to a trigger. Whether it changed `on`."""
    cdef int action, group
    if number >= TRIGGERS:
        return False
    action = switches.action[number]
    group = switches.group[number]
    switches.hits[number] += 1
    if action == 0 or switches.on == (action == STARTS) or switches.spent[group][action]:
        return False
    switches.spent[group][action] = not switches.repeats[group]
    switches.on = action == STARTS
    return True


cdef inline void set_mode(Switches* switches, uint64_t user_mask) noexcept nogil:
    """psr.um has changed."""
    switches.up = user_mask & UP != 0
