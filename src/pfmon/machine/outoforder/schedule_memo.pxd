"""Schedules that were computed before: see schedule_memo.pyx."""

cimport cython
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef struct KnownState:          # then the bytes of a CoreState that are not 0
    KnownState* next             # with the same hash
    uint64_t hash
    uint64_t bytes

cdef struct KnownSchedule:       # of a block from a state; then its delays and the times of its stores
    uint64_t key                 # of the block, the responses and its end
    KnownSchedule* following[2]  # the ones that followed it last
    KnownState* after
    uint64_t runs                # not yet recorded
    int32_t cycles               # of dispatch
    int32_t lag                  # of retirement behind dispatch, afterwards
    uint16_t delays, stores
    uint32_t block
    KnownState* before
    KnownSchedule* next          # with the same hash
    KnownSchedule* listed        # the next one with runs that are not recorded

cdef enum:
    MEMO_TABLE = 1 << 13         # lists of states, and of schedules, by hash
    MEMO_SEEN = 1 << 16          # hashes of states and schedules that are not kept


cdef inline Delay* delays_of(const KnownSchedule* schedule) noexcept nogil:
    return <Delay*>(schedule + 1)


cdef inline StoreTimes* stores_of(const KnownSchedule* schedule) noexcept nogil:
    return <StoreTimes*>(delays_of(schedule) + schedule.delays)


cdef inline uint64_t mixed(uint64_t hash, uint64_t word) noexcept nogil:
    """Adds a word to a hash."""
    hash = (hash ^ word) * <uint64_t>0x9E3779B97F4A7C15
    return hash ^ hash >> 29


@cython.final
cdef class ScheduleMemo:
    cdef CoreFigures figures
    cdef CoreState state         # where `known` is NULL
    cdef KnownState* known       # the state, if it is a known one
    cdef KnownSchedule* last     # the schedule that led to it; `nothing`: another one did
    cdef KnownSchedule* listed   # schedules with runs that are not recorded
    cdef KnownSchedule nothing   # in place of schedules that are not there
    cdef Schedule computed       # the last one that was computed
    cdef bint remembers
    cdef char* memory            # of states and schedules
    cdef uint64_t used           # bytes of it
    cdef bint full               # all have to be forgotten
    cdef KnownState* states[MEMO_TABLE]
    cdef KnownSchedule* schedules[MEMO_TABLE]
    cdef uint16_t seen[MEMO_SEEN]
    cdef readonly uint64_t lookups, computations, flushes

    cdef void* room(self, uint64_t size) noexcept nogil
    cdef bint is_new(self, uint64_t hash) noexcept nogil
    cdef void enter_state(self) noexcept nogil
    cdef void leave_known(self) noexcept nogil
    cdef KnownSchedule* find(self, uint64_t key) noexcept nogil
    cdef void compute(self, uint64_t key, const CoreBlock* block, const Response* responses, uint32_t count,
                      uint32_t end) noexcept nogil
    cdef void keep(self, uint64_t key, const CoreBlock* block, KnownState* before, KnownSchedule* last) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef void link(self, KnownSchedule* last, KnownSchedule* schedule) noexcept nogil


cdef inline uint64_t schedule_key(const CoreBlock* block, const Response* responses, uint32_t count,
                                  uint32_t end) noexcept nogil:
    """Returns the key of a block with its end and what memory responded."""
    cdef uint64_t key = <uint64_t>block.number << 16 | end
    cdef uint32_t i
    if count == 0:
        return key
    for i in range(count):
        key = mixed(mixed(key, i), (<const uint64_t*>&responses[i])[0])
    return key | <uint64_t>1 << 63


cdef inline KnownSchedule* run_known(ScheduleMemo memo, uint64_t key) noexcept nogil:
    """Runs a block whose schedule from the current state is known; NULL: it is not."""
    cdef KnownSchedule* found = memo.last.following[0]
    if found.key != key:
        found = memo.find(key)
        if found == NULL:
            return NULL
    memo.last, memo.known = found, found.after
    return found


cdef inline void count_run(ScheduleMemo memo, KnownSchedule* schedule) noexcept nogil:
    """Counts a run of a schedule, to be recorded later."""
    if schedule.runs == 0:
        schedule.listed, memo.listed = memo.listed, schedule
    schedule.runs += 1
