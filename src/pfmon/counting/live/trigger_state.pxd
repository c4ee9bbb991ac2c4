"""Trigger state along the stream: whether counting is on, by triggers and PSR.up (MODE marks)."""

from libc.stdint cimport uint64_t

cdef enum:
    TRIGGERS = 32
    GROUPS = 3                           # those that repeat, and of the others code and data (session/run/controls.py)
    STARTS = 1                           # action of a trigger; 0: none
    STOPS = 2
    UP = 1 << 2                          # of the user mask

cdef struct TriggerState:                # all zeros: nothing counts
    bint on                              # by the triggers
    bint heeds_psr_up                    # PSR.up is honoured
    bint up                              # PSR.up
    int action[TRIGGERS]
    int group[TRIGGERS]
    uint64_t hits[TRIGGERS]              # how often each trigger was reached, whether or not it had an effect
    bint repeats[GROUPS]
    bint spent[GROUPS][STOPS + 1]        # by action


cdef inline bint is_counting(const TriggerState* switches) noexcept nogil:
    return switches.on and (switches.up or not switches.heeds_psr_up)


cdef inline bint reach_trigger(TriggerState* switches, uint64_t number) noexcept nogil:
    """Applies a trigger that was reached. Returns whether it changed `on`."""
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


cdef inline void set_mode(TriggerState* switches, uint64_t user_mask) noexcept nogil:
    """Applies a change of psr.um."""
    switches.up = user_mask & UP != 0
