"""The timeline of hot blocks on an out-of-order core: see core_timeline.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef enum:
    TIMELINE_ROWS = 1024         # instructions of a capture,
    TIMELINE_DELAYS = 4 * TIMELINE_ROWS  # ... and delays of their retirement
    NO_UNIT = 0xFF

cdef struct TimelineRow:         # an instruction that ran; times are ticks
    uint32_t run                 # of a block: its number in the capture
    uint8_t instruction
    uint8_t loads                # `address` holds
    int64_t dispatched           # into the reorder buffer and the reservation station
    int64_t address              # its address is ready: its load begins
    int64_t data                 # all operands are ready, a load's data among them
    int64_t done                 # it has executed
    int64_t retired

cdef struct TimelineDelay:       # why an instruction retired later than the one before
    uint32_t row
    uint8_t cause                # DelayCause
    uint8_t unit                 # for which its part waited, or NO_UNIT
    uint8_t behind               # the instruction had retired: what follows waits for dispatch
    int64_t ticks

cdef struct TimelineRun:         # an execution of a block
    uint32_t block
    uint32_t first_row
    uint8_t end                  # BlockEnd
    uint8_t begins               # an iteration
    int64_t delivered            # by the front end, from then on
    int64_t cost                 # ticks in which it delivers the block
    int64_t before, after        # until then instructions have retired, before and after it

cdef struct Capture:             # consecutive executions of blocks: from one of `block` on
    uint32_t block
    uint32_t runs, rows, delays
    uint32_t iterations
    uint8_t whole                # the last iteration ended with a further one
    uint64_t execution           # of `block` with which it begins
    TimelineRun run[TIMELINE_ROWS]
    TimelineRow row[TIMELINE_ROWS]
    TimelineDelay delay[TIMELINE_DELAYS]


@cython.final
cdef class CoreTimeline:
    cdef CoreBlocks blocks
    cdef BlockTable table
    cdef uint64_t* ranges        # first address and the one behind, of each; NULL: all blocks
    cdef uint32_t range_count
    cdef uint32_t iterations, rows  # of a capture: it ends when it has either
    cdef uint32_t capacity       # captures
    cdef Capture* captures[MAX_CAPTURES]
    cdef BlockHistory* kept[MAX_CAPTURES]
    cdef uint32_t count          # captures so far
    cdef Capture* open           # under way; NULL: none is
    cdef Capture* spare          # that the next one is made in
    cdef BlockHistory* opened    # of its block
    cdef BlockHistory* last      # of the block that ran last
    cdef int64_t retired         # before it
    cdef const CorePart* part    # that ran last of the block; NULL: none has so far
    cdef int64_t part_retired    # before it; then when its last instruction retires, but for its units
    cdef bint lost               # there was no memory

    cdef bint begin_block(self, const CoreState* state, CoreBlock* block, uint32_t end) noexcept nogil
    cdef void begin_part(self, const CoreState* state) noexcept nogil
    cdef void put_part(self, const CoreBlock* block, const CorePart* part, const BlockTimes* times, uint32_t first) noexcept nogil
    cdef void end_part(self, const CoreState* state) noexcept nogil
    cdef void end_block(self, const CoreState* state, uint32_t cause) noexcept nogil
    cdef bint remember(self, CoreBlock* block) noexcept nogil
    cdef void go_on(self, const CoreBlock* block) noexcept nogil
    cdef void begin_capture(self, CoreBlock* block) noexcept nogil
    cdef void end_capture(self, bint whole) noexcept nogil
    cdef void put_run(self, const CoreState* state, const CoreBlock* block, uint32_t end) noexcept nogil
    cdef void put_delay(self, uint32_t row, uint32_t cause, uint32_t unit, bint behind, int64_t ticks) noexcept nogil
