"""Urgency: the thread with the higher one has the core (Montecito manual 2.4.1.3, figure 2-2)."""

from libc.stdint cimport uint8_t

cdef enum:
    MIN_URGENCY = 0            # no useful work to perform
    NOMINAL_URGENCY = 5          # actively progressing
    MAX_URGENCY = 7
    THREADS = 2                  # of a core


cdef inline void lower_urgency(uint8_t* urgency) noexcept nogil:
    """Updates the urgency at an L3 miss of the thread."""
    if urgency[0] > MIN_URGENCY:
        urgency[0] -= 1


cdef inline void raise_urgency(uint8_t* urgency) noexcept nogil:
    """Updates the urgency when the data of a thread's L3 miss arrives."""
    if urgency[0] < NOMINAL_URGENCY:
        urgency[0] += 1
