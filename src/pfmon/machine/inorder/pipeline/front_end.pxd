"""The front end: see front_end.pyx."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t


cdef enum:
    WAITS = 8                    # one group has five at most: two windows (bubbles, two misses each)

@cython.final
cdef class FrontEnd:
    cdef InstructionFetch fetch
    cdef AccessLog* access_log   # the pipeline's
    cdef const UserClock* clock  # the core's
    cdef Records records
    cdef CaptureListener listener  # None: no listener
    cdef uint64_t window         # current fetch window; 0: none
    cdef int64_t ready           # cycle from which `window` can be dispersed
    cdef int32_t bubbles         # of a prediction, before the next window
    cdef uint32_t bubble_cause   # of these
    cdef PendingWait waits[WAITS]  # since the last dispersal
    cdef uint32_t wait_count
    cdef int64_t kernel          # cycles of the operating system before the latest window
    cdef bint lost               # sticky: no room for a wait
    cdef int64_t buffer_windows

    cdef bint is_of_line_before(self, const PipelineOp* step, const BlockExecution* run) noexcept nogil
    # ``earliest``: the next cycle in which the back end can accept something; ``free``: the first in which the buffer
    # is empty.
    cdef void deliver(self, EventLog* event_log, const BlockExecution* run, const PipelineOp* step, uint32_t number,
                      int64_t earliest,
                      int64_t free) noexcept nogil
    cdef void notify_fetch(self, const BlockExecution* run, const PipelineOp* step, uint32_t number,
                   const Fetched* fetched) noexcept nogil
    cdef void redirect(self, int32_t bubbles, uint32_t cause) noexcept nogil
    cdef void flush(self, uint64_t number, uint32_t cause, int64_t until) noexcept nogil
    # Stops fetching while the operating system runs.
    # Restarts after a flush for another thread; the next window can be dispersed after cycle ``now``.
    cdef void begin_again(self, int64_t now) noexcept nogil
    cdef void stop(self, int64_t cycles) noexcept nogil
    cdef void fill_buffer(self, uint64_t number, int64_t earliest) noexcept nogil
    cdef void account_waits(self, const BlockExecution* run, uint32_t instruction, int64_t at,
                            int64_t start) noexcept nogil
    cdef uint32_t missing(self) noexcept nogil
    cdef bint save(self, PipelineState* state, int64_t now) noexcept nogil
    cdef void restore(self, const PipelineState* state, int64_t now) noexcept nogil

    cdef void account_wait(self, uint64_t number, uint32_t instruction, uint32_t cause, int64_t cycles) noexcept nogil
    cdef void wait_for(self, const BlockExecution* run, uint32_t number, int64_t until, uint32_t front,
                       int64_t cycles) noexcept nogil
    cdef void account_ideal(self, const BlockExecution* run, uint32_t number, int64_t at, int64_t until) noexcept nogil
