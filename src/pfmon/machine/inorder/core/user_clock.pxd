"""The clock of user level: the core's cycles without those of the operating system (level 0)."""

from libc.stdint cimport int64_t, uint32_t

cdef enum:
    MAX_KERNEL_STAYS = 64        # kept; a power of two

cdef struct KernelStay:          # the operating system runs from cycle `begin` to `end`
    int64_t begin
    int64_t end
    int64_t before               # cycles of the stays before it

cdef struct UserClock:           # in memory that is all zeros
    int64_t end                  # of the latest stay
    int64_t kernel               # cycles of all stays
    uint32_t latest
    KernelStay stays[MAX_KERNEL_STAYS]


cdef inline void enter_level_0(UserClock* clock, int64_t begin, int64_t end) noexcept nogil:
    """Adds a stay in the operating system. Stays do not overlap: one that begins before the end of
    the latest is moved to that end."""
    cdef KernelStay* stay
    if begin < clock.end:
        begin, end = clock.end, end + clock.end - begin
    if end <= begin:
        return
    clock.latest = (clock.latest + 1) & (MAX_KERNEL_STAYS - 1)
    stay = &clock.stays[clock.latest]
    stay.begin, stay.end, stay.before = begin, end, clock.kernel
    clock.end = end
    clock.kernel += end - begin


cdef inline int64_t user_cycle_before(const UserClock* clock, int64_t now) noexcept nogil:
    """`user_cycle` of a cycle before the end of the latest stay; -1: it is before all that are kept."""
    cdef const KernelStay* stay
    cdef uint32_t i, index = clock.latest
    cdef int64_t kernel = clock.kernel
    for i in range(MAX_KERNEL_STAYS):
        stay = &clock.stays[index]
        if now >= stay.end:
            return now - kernel
        if now > stay.begin:
            now = stay.begin
        kernel = stay.before
        index = (index - 1) & (MAX_KERNEL_STAYS - 1)
    return -1


cdef inline int64_t user_cycle(const UserClock* clock, int64_t now) noexcept nogil:
    """Returns the cycles of user level before cycle ``now``; NULL clock: every cycle is of user level."""
    if clock == NULL:
        return now
    return now - clock.kernel if now >= clock.end else user_cycle_before(clock, now)
